import Foundation

/// Runs the built `taskhost`.
struct TaskHostProcess {
  /// What it left.
  struct Result: Sendable {
    let status: Int32
    let output: String
    let errors: String
  }

  /// The executable, which is built beside the tests.
  static var path: String {
    get throws {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let beside = URL(filePath: tests).deletingLastPathComponent().appending(path: "taskhost").path
      return FileManager.default.isExecutableFile(atPath: beside) ? beside : Bundle.main.bundlePath + "/taskhost"
    }
  }

  /// Runs it with `arguments` and waits for its end.
  static func run(_ arguments: [String], input: String = "", environment: [String: String] = [:], directory: String? = nil) async throws
    -> Result
  {
    let process = Process()
    process.executableURL = URL(filePath: try path)
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(filePath: directory) }
    process.environment = ["PATH": "/usr/bin:/bin", "TZ": "UTC"].merging(environment) { $1 }
    let (input_, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input_
    process.standardOutput = output
    process.standardError = errors
    let (ended, signal) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in signal.finish() }
    try process.run()
    try input_.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try input_.fileHandleForWriting.close()
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
