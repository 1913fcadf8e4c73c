import Foundation
import Glibc

/// A child process with its output, read on threads of its own.
final class Program: Sendable {
  /// How it ended.
  struct Result: Sendable {
    /// The exit code; −N when signal N ended it.
    let status: Int32
    let output: String
    let errors: String

    func json() throws -> JSON { try JSON(parsing: output) }
  }

  private let process: Process
  private let texts: Task<(String, String), any Error>
  private let ended: Task<Void, Never>

  /// Starts it.
  ///
  /// - Parameter onErrorLine: Called for each line of standard error, on a thread of its own.
  init(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    onErrorLine: (@Sendable (String) -> Void)? = nil
  ) throws {
    process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = arguments
    if let directory { process.currentDirectoryURL = URL(filePath: directory) }
    process.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(environment) { $1 }
    let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = errors
    let (ended, signal) = AsyncStream<Void>.makeStream()
    self.ended = Task { for await _ in ended {} }
    process.terminationHandler = { _ in signal.finish() }
    try process.run()
    try? standardInput.fileHandleForWriting.write(contentsOf: input)
    try? standardInput.fileHandleForWriting.close()
    let (outputHandle, errorHandle) = (output.fileHandleForReading, errors.fileHandleForReading)
    texts = Task {
      async let outputText = onOwnThread { try Self.read(outputHandle, line: nil) }
      async let errorText = onOwnThread { try Self.read(errorHandle, line: onErrorLine) }
      return try await (outputText, errorText)
    }
  }

  var processID: pid_t { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  func send(_ signal: Int32) { if process.isRunning { kill(process.processIdentifier, signal) } }

  /// Waits for its end; one that takes longer than `limit` is killed, and the test fails.
  func result(within limit: Duration = .seconds(60)) async throws -> Result {
    let late = Task {
      try await Task.sleep(for: limit)
      send(SIGKILL)
      return true
    }
    await ended.value
    late.cancel()
    let (output, errors) = try await texts.value
    if (try? await late.value) == true {
      throw TestFailure(
        "\(process.arguments ?? []) took longer than \(limit) and was killed; it wrote: \(output.suffix(2000)) \(errors.suffix(2000))")
    }
    let status = process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    return Result(status: status, output: output, errors: errors)
  }

  /// Starts it and waits for its end.
  static func run(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil
  ) async throws -> Result {
    try await Program(executable, arguments, input: input, environment: environment, directory: directory).result()
  }

  private static func read(_ handle: FileHandle, line: (@Sendable (String) -> Void)?) throws -> String {
    var (all, rest) = (Data(), Data())
    while true {
      let part = handle.availableData
      if part.isEmpty { break }
      all.append(part)
      guard let line else { continue }
      rest.append(part)
      while let end = rest.firstIndex(of: 0x0A) {
        line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
        rest = Data(rest[rest.index(after: end)...])
      }
    }
    return String(decoding: all, as: UTF8.self)
  }
}
