import Foundation

/// Runs the built `taskhost`.
struct CheckProcess {
  /// What it left.
  struct Result: Sendable {
    let status: Int32
    let output: String
    let errors: String

    /// The cases of a JSON report, by name.
    func cases() throws -> [String: [String: Any]] {
      let report = try report()
      let cases = report["cases"] as? [[String: Any]] ?? []
      return Dictionary(cases.map { ($0["case"] as? String ?? "", $0) }) { first, _ in first }
    }

    /// A JSON report.
    func report() throws -> [String: Any] {
      try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
    }
  }

  /// The executable, which is built beside the tests.
  static var path: String {
    get throws {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let beside = URL(filePath: tests).deletingLastPathComponent().appending(path: "taskhost").path
      return FileManager.default.isExecutableFile(atPath: beside) ? beside : Bundle.main.bundlePath + "/taskhost"
    }
  }

  /// `taskhost plugins check` with `arguments`; waits for its end.
  static func check(_ arguments: [String]) async throws -> Result {
    try await run(try path, ["plugins", "check"] + arguments)
  }

  /// Runs a program and waits for its end.
  static func run(_ program: String, _ arguments: [String]) async throws -> Result {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "TZ": "UTC"]
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    let (ended, signal) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in signal.finish() }
    try process.run()
    async let outputText = read(output)
    async let errorText = read(errors)
    let texts = await (outputText, errorText)
    for await _ in ended {}
    return Result(status: process.terminationStatus, output: texts.0, errors: texts.1)
  }

  /// Reads to the end on a thread of its own.
  private static func read(_ pipe: Pipe) async -> String {
    let handle = pipe.fileHandleForReading
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let data = (try? handle.readToEnd()) ?? Data()
        // Foundation keeps a process's pipes for longer than the process.
        try? handle.close()
        continuation.resume(returning: String(decoding: data, as: UTF8.self))
      }
    }
  }
}
