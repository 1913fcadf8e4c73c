import TestSupport
import Foundation

/// `sandbox-probe`, and the library of actions it loads as a worker loads a plugin.
enum Probe {
  /// Where the library is built, once per process; removed when that ends.
  private static let folder: String = {
    let path = NSTemporaryDirectory() + "taskhost-sandbox-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(atPath: Probe.folder) }
    return path
  }()

  private static let library = Result<String, any Error> {
    let tests = URL(filePath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let sources = tests.appending(path: "Fixtures/Sandbox").path
    let output = "\(folder)/actions.so"
    let files = ["actions", "actions_files", "actions_network", "actions_processes"].map { "\(sources)/\($0).c" }
    let compiled = try start(
      "/usr/bin/env", ["cc", "-shared", "-fPIC", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", output] + files)
    guard compiled.status == 0 else { throw TestFailure("cc: \(compiled.output)") }
    return output
  }

  /// The library of actions.
  static var plugin: String { get throws { try library.get() } }

  /// Confines a new process and has it try `actions`, a name and an argument each.
  ///
  /// - Parameter options: As the probe's command line takes them.
  static func run(_ options: [String], _ actions: [(String, String)]) throws -> ProbeResult {
    let ended = try start(try BuiltProgram.path("sandbox-probe"), [plugin] + options + ["--"] + actions.flatMap { [$0.0, $0.1] })
    var result = ProbeResult(output: ended.output)
    result.signal = ended.signal
    return result
  }

  /// What one action answers.
  static func answer(_ options: [String], _ action: String, _ argument: String = "") throws -> Int32 {
    let result = try run(options, [(action, argument)])
    guard result.answers.count == 1 else {
      throw TestFailure("\(action) \(argument): \(result.refused ?? "no answer, signal \(result.signal ?? 0)")")
    }
    return result.answers[0]
  }

  private struct Ended {
    let output: String
    let status: Int32
    let signal: Int32?
  }

  private static func start(_ path: String, _ arguments: [String]) throws -> Ended {
    let ended = try Program.finish([path] + arguments)
    return Ended(
      output: ended.output + ended.errors, status: ended.status, signal: ended.status < 0 ? -ended.status : nil)
  }
}
