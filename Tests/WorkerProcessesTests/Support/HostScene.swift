import LauncherConformance
import TestSupport

/// A host in a process of its own (`launcher-probe`), and the lines that it prints.
struct HostScene: Sendable {
  private let program: LineProgram

  init(_ name: String) throws {
    program = try LineProgram([try BuiltProgram.path("launcher-probe"), name], environment: ["SWIFT_BACKTRACE": "enable=no"])
  }

  func kill(_ signal: Int32) { program.send(signal) }

  /// The next line; throws when there is none.
  func line() async throws -> String { try await onThread { [program] in try program.line(within: .seconds(60)) } }

  /// All lines to its end, within three minutes.
  func lines() async throws -> [String] { try await onThread { [program] in try program.end(within: .seconds(180)).lines } }
}
