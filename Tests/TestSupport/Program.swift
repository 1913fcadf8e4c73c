public import Foundation
import Glibc

/// A child process with its output, read on threads of its own.
public final class Program: Sendable {
  /// How it ended.
  public struct Result: Sendable {
    /// The exit code; −N when signal N ended it.
    public let status: Int32
    /// What it wrote to its standard output.
    public let output: String
    /// What it wrote to its standard error.
    public let errors: String
  }

  /// What a program's environment has unless a test says otherwise.
  public static let plainEnvironment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": "UTC", "LC_ALL": "C.UTF-8"]

  private let command: [String]
  private let child: ChildProcess
  private let texts: Task<(String, String), any Error>
  private let ended: Task<Int32, any Error>

  /// Starts it.
  ///
  /// - Parameters:
  ///   - environment: Added to ``plainEnvironment``.
  ///   - onErrorLine: Called for each line of standard error, on a thread of its own.
  public init(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    onErrorLine: (@Sendable (String) -> Void)? = nil
  ) throws {
    command = [executable] + arguments
    let (standardInput, output, errors) = (try Channel(), try Channel(), try Channel())
    defer { for descriptor in [standardInput.readEnd, output.writeEnd, errors.writeEnd] { close(descriptor) } }
    let child = try ChildProcess(
      command, environment: Self.plainEnvironment.merging(environment) { $1 }, directory: directory,
      descriptors: [standardInput.readEnd, output.writeEnd, errors.writeEnd])
    self.child = child
    ended = Task { try await onThread { try child.wait() } }
    let (inputEnd, outputEnd, errorEnd) = (standardInput.writeEnd, output.readEnd, errors.readEnd)
    texts = Task {
      async let outputText = onThread { try Self.read(outputEnd, line: nil) }
      async let errorText = onThread { try Self.read(errorEnd, line: onErrorLine) }
      return try await (outputText, errorText)
    }
    Thread.detachNewThread {
      var rest = input[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(inputEnd, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { break }
      }
      close(inputEnd)
    }
  }

  /// Its process id.
  public var processID: pid_t { child.processID }

  /// Whether it has not been reaped yet.
  public var isRunning: Bool { child.isRunning }

  /// Sends it a signal, unless it has been reaped.
  public func send(_ signal: Int32) { child.send(signal) }

  /// Waits for its end; one that takes longer than `limit` is killed, and the test fails.
  public func result(within limit: Duration = .seconds(60)) async throws -> Result {
    let late = Task {
      try await Task.sleep(for: limit)
      send(SIGKILL)
      return true
    }
    let status = try await ended.value
    late.cancel()
    let (output, errors) = try await texts.value
    if (try? await late.value) == true {
      throw TestFailure(
        "\(command.dropFirst()) took longer than \(limit) and was killed; it wrote: \(output.suffix(2000)) \(errors.suffix(2000))")
    }
    return Result(status: status, output: output, errors: errors)
  }

  /// Starts it and waits for its end.
  public static func run(
    _ executable: String, _ arguments: [String], input: Data = Data(), environment: [String: String] = [:], directory: String? = nil,
    within limit: Duration = .seconds(60)
  ) async throws -> Result {
    try await Program(executable, arguments, input: input, environment: environment, directory: directory).result(within: limit)
  }

  private static func read(_ descriptor: Int32, line: (@Sendable (String) -> Void)?) throws -> String {
    defer { close(descriptor) }
    var (all, rest) = (Data(), Data())
    try Channel.readAll(descriptor) { part in
      all.append(contentsOf: part)
      guard let line else { return }
      rest.append(contentsOf: part)
      while let end = rest.firstIndex(of: 0x0A) {
        line(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
        rest = Data(rest[rest.index(after: end)...])
      }
    }
    return String(decoding: all, as: UTF8.self)
  }
}
