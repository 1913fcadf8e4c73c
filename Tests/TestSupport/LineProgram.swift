import Foundation
public import Glibc

/// A child process that is talked to by lines: what it is told goes to its standard input, what it says is its standard output. One caller
/// at a time.
public final class LineProgram: @unchecked Sendable {  // reason: one test uses it, one call at a time
  private let name: String
  private let child: ChildProcess
  private var input: Int32
  private let output: Int32
  private var unread: [UInt8] = []

  /// Starts it.
  ///
  /// - Parameter environment: Added to that of this process.
  public init(_ command: [String], environment: [String: String] = [:]) throws {
    name = URL(filePath: command.first ?? "").lastPathComponent
    let (standardInput, standardOutput) = (try Channel(), try Channel())
    defer { for descriptor in [standardInput.readEnd, standardOutput.writeEnd] { close(descriptor) } }
    child = try ChildProcess(
      command, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      descriptors: [standardInput.readEnd, standardOutput.writeEnd, STDERR_FILENO])
    (input, output) = (standardInput.writeEnd, standardOutput.readEnd)
  }

  deinit {
    closeInput()
    close(output)
  }

  /// Its process id.
  public var processID: pid_t { child.processID }

  /// Sends it a signal.
  public func send(_ signal: Int32) { child.send(signal) }

  /// Tells it a line.
  public func say(_ line: String) throws {
    var rest = Array("\(line)\n".utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw TestFailure("\(name) takes no line any more") }
    }
  }

  /// Closes its standard input.
  public func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Blocks for the next line of which `isWanted` is true, for `limit` at most; others are passed over.
  @discardableResult public func line(within limit: Duration = .seconds(30), _ isWanted: (String) -> Bool = { _ in true }) throws -> String
  {
    let deadline = ContinuousClock.now + limit
    var seen: [String] = []
    while true {
      while let end = unread.firstIndex(of: 10) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 1)
        if isWanted(line) { return line }
        seen.append(line)
      }
      guard try receive(until: deadline) else { throw TestFailure("\(name) has ended after:\n\(seen.joined(separator: "\n"))") }
    }
  }

  /// Blocks until it has ended, for `limit` at most; its lines, and its status as of ``ChildProcess/wait()``.
  public func end(within limit: Duration = .seconds(60)) throws -> (lines: [String], status: Int32) {
    let deadline = ContinuousClock.now + limit
    while try receive(until: deadline) {}
    defer { unread = [] }
    let lines = String(decoding: unread, as: UTF8.self).split(separator: "\n").map(String.init)
    return (lines, try child.wait(within: .seconds(30)))
  }

  /// Takes what it says; `false` at the end of that.
  private func receive(until deadline: ContinuousClock.Instant) throws -> Bool {
    var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    while true {
      let left = Int32(max(0, (deadline - .now) / .milliseconds(1)).rounded(.up))
      switch poll(&entry, 1, left) {
      case 0: throw TestFailure("\(name) says nothing; it said:\n\(String(decoding: unread, as: UTF8.self))")
      case 1...: break
      default: continue
      }
      let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in count = max(0, read(output, buffer.baseAddress, 65_536)) }
      unread += bytes
      return !bytes.isEmpty
    }
  }
}
