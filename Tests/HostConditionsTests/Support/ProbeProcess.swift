import Foundation
import Glibc
import HostThreads
import TaskModel

/// `conditions-probe` in a network namespace of its own, and the lines that it prints.
final class ProbeProcess: @unchecked Sendable {  // reason: the process is started before others see it, its output is read by one at a time
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer: [UInt8] = []

  /// Whether this machine lets the tests make namespaces with links in them.
  static let isPossible: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["unshare", "-Urn", "sh", "-c", "ip link set lo up && ip link add taskhost0 type veth peer name taskhost1"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  init(_ arguments: [String] = []) async throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["unshare", "-Urn", try Self.executable] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    _ = try await line { $0 == "ready" }
  }

  deinit {
    try? input.fileHandleForWriting.close()
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Gives a command and waits for its answer; what the monitor says meanwhile is passed over.
  @discardableResult func ask(_ command: String) async throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    return try await line { !$0.hasPrefix("changed") }
  }

  /// Runs commands of a shell in the namespace, each of which must succeed.
  func run(_ commands: String...) async throws {
    for command in commands {
      let answer = try await ask("run \(command)")
      guard answer == "ran 0" else { throw TestFailure("\(command): \(answer)") }
    }
  }

  /// Gives a command, and waits for its answer and for the change of which `isWanted` is true, whichever comes first.
  @discardableResult func change(after command: String, _ isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    let seen = Guarded((isAnswered: false, change: String?.none))
    try await line { line in
      seen.withLock { seen in
        if !line.hasPrefix("changed") {
          seen.isAnswered = true
        } else if seen.change == nil, isWanted(line) {
          seen.change = line
        }
        return seen.isAnswered && seen.change != nil
      }
    }
    return seen.withLock { $0.change } ?? ""
  }

  /// The report, once `isWanted` is true of it: what is only said otherwise is no change. Within half a minute.
  func report(_ isWanted: (String) -> Bool) async throws -> String {
    let deadline = SystemClock.now + .seconds(30)
    while true {
      let report = try await ask("report")
      if isWanted(report) { return report }
      guard SystemClock.now < deadline else { throw TestFailure("the report did not come to it: \(report)") }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The next line of which `isWanted` is true, within half a minute.
  @discardableResult func line(_ isWanted: @escaping @Sendable (String) -> Bool) async throws -> String {
    try await onThread { [self] in
      let deadline = SystemClock.now + .seconds(30)
      var seen: [String] = []
      while true {
        while let end = buffer.firstIndex(of: 10) {
          let line = String(decoding: buffer[..<end], as: UTF8.self)
          buffer.removeFirst(end + 1)
          if isWanted(line) { return line }
          seen.append(line)
        }
        var entry = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        let left = (deadline - SystemClock.now).wholeMilliseconds
        guard left > 0, poll(&entry, 1, Int32(clamping: left)) > 0 else {
          throw TestFailure("the line did not come; those came:\n\(seen.joined(separator: "\n"))")
        }
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { throw TestFailure("the probe ended after:\n\(seen.joined(separator: "\n"))") }
        buffer += data
      }
    }
  }

  /// A number of the probe's counters.
  func counter(_ name: String) async throws -> Int {
    let line = try await ask("counters")
    let word = line.split(separator: " ").first { $0.hasPrefix("\(name)=") }
    guard let count = word.flatMap({ Int($0.dropFirst(name.count + 1)) }) else { throw TestFailure("no \(name) in \(line)") }
    return count
  }

  /// Beside the test bundle, where SwiftPM builds both.
  private static var executable: String {
    get throws {
      let executed = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let places = [executed, CommandLine.arguments.first].compactMap(\.self)
        .map { URL(filePath: $0).deletingLastPathComponent().appending(path: "conditions-probe").path }
      guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw TestFailure("there is no conditions-probe at \(places.joined(separator: " or ")): build it (swift build)")
      }
      return found
    }
  }
}
