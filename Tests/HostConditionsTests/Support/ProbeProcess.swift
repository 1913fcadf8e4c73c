import HostThreads
import TestSupport
import TaskModel

/// `conditions-probe` in a network namespace of its own, and the lines that it prints.
struct ProbeProcess: Sendable {
  private let program: LineProgram

  /// Whether this machine lets the tests make namespaces with links in them.
  static let isPossible: Bool = {
    let command = ["unshare", "-Urn", "sh", "-c", "ip link set lo up && ip link add taskhost0 type veth peer name taskhost1"]
    return Program.status(command) == 0
  }()

  init(_ arguments: [String] = []) async throws {
    program = try LineProgram(
      ["unshare", "-Urn", try BuiltProgram.path("conditions-probe")] + arguments, environment: ["SWIFT_BACKTRACE": "enable=no"])
    try await line { $0 == "ready" }
  }

  /// Gives a command and waits for its answer; what the monitor says meanwhile is passed over.
  @discardableResult func ask(_ command: String) async throws -> String {
    try program.say(command)
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
    try program.say(command)
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
    try await onThread { [program] in try program.line(isWanted) }
  }

  /// A number of the probe's counters.
  func counter(_ name: String) async throws -> Int {
    let line = try await ask("counters")
    let word = line.split(separator: " ").first { $0.hasPrefix("\(name)=") }
    guard let count = word.flatMap({ Int($0.dropFirst(name.count + 1)) }) else { throw TestFailure("no \(name) in \(line)") }
    return count
  }
}
