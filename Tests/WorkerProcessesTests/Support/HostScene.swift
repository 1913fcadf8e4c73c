import Foundation
import LauncherConformance

/// A host in a process of its own (`launcher-probe`), and the lines that it prints.
final class HostScene: @unchecked Sendable {  // reason: the process is started before others see it, its output is read by one at a time
  private let process = Process()
  private let output = Pipe()
  private var buffer: [UInt8] = []

  init(_ name: String) throws {
    process.executableURL = URL(filePath: try BuiltProgram.path("launcher-probe"))
    process.arguments = [name]
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardOutput = output
    try process.run()
  }

  deinit { if process.isRunning { kill(SIGKILL) } }

  func kill(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

  /// The next line; throws when there is none.
  func line() async throws -> String {
    try await onThread { [self] in
      while true {
        if let end = buffer.firstIndex(of: 10) {
          defer { buffer.removeFirst(end + 1) }
          return String(decoding: buffer[..<end], as: UTF8.self)
        }
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { throw TestFailure("the host ended: \(String(decoding: buffer, as: UTF8.self))") }
        buffer += data
      }
    }
  }

  /// All lines to its end.
  func lines() async throws -> [String] {
    try await onThread { [self] in
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }
}
