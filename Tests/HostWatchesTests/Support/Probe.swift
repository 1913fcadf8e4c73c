import Foundation
import HostThreads
import TaskModel

/// `watch-probe` in a process of its own: lines in, lines out.
final class Probe: @unchecked Sendable {  // reason: one test uses it, one call at a time
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var text = ""

  /// Starts it and waits until it watches.
  ///
  /// - Parameter prefix: The command that starts it, as `unshare -U`.
  init(_ arguments: [String], prefix: [String] = [], environment: [String: String] = [:]) throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = environment.map { "\($0.key)=\($0.value)" } + prefix + [try Self.executable] + arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try expect("ready")
  }

  deinit { if process.isRunning { process.terminate() } }

  func say(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8)) }

  /// Says a line; the answer without its first word.
  func ask(_ line: String) throws -> String {
    try say(line)
    return try self.line().split(separator: " ", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
  }

  /// Waits for the next line, 30 s at most.
  func line() throws -> String {
    let deadline = SystemClock.now + .seconds(30)
    while true {
      if let end = text.firstIndex(of: "\n") {
        defer { text.removeSubrange(...end) }
        return String(text[..<end])
      }
      let left = (deadline - SystemClock.now).wholeMilliseconds
      var wait = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&wait, 1, Int32(left)) > 0 else { throw TestFailure("watch-probe says nothing") }
      let bytes = output.fileHandleForReading.availableData
      guard !bytes.isEmpty else { throw TestFailure("watch-probe has ended") }
      text += String(decoding: bytes, as: UTF8.self)
    }
  }

  func expect(_ expected: String) throws {
    let line = try line()
    guard line == expected else { throw TestFailure("watch-probe says \"\(line)\", not \"\(expected)\"") }
  }

  /// Lets it stop its watches and end; its status.
  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    try expect("stopped")
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// Beside the test bundle, where SwiftPM builds both.
  private static var executable: String {
    get throws {
      let executed = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let places = [executed, CommandLine.arguments.first].compactMap(\.self)
        .map { URL(filePath: $0).deletingLastPathComponent().appending(path: "watch-probe").path }
      guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw TestFailure("there is no watch-probe at \(places.joined(separator: " or ")): build it (swift build)")
      }
      return found
    }
  }
}
