import TaskModel

struct RunTally {
  private var counts: [String: Int] = [:]
  private var total = 0
  private(set) var slowestWindUp = Duration.zero
  private var lastMessage: String?

  mutating func add(_ end: RunLedger.Ended) {
    total += 1
    counts[Self.word(for: end.ending), default: 0] += 1
    slowestWindUp = max(slowestWindUp, end.windUp ?? .zero)
    lastMessage = end.report.message ?? lastMessage
  }

  /// Adds a run that a host would refuse at submission.
  mutating func addRefused() {
    total += 1
    counts["refused at submission", default: 0] += 1
  }

  /// For example `12 runs: 10 retry, 2 success; returned at most 3 ms after expiration`.
  var sentence: String {
    let parts = counts.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { total == 1 ? $0.key : "\($0.value) \($0.key)" }
    var text = (total == 1 ? "" : "\(total) runs: ") + parts.joined(separator: ", ")
    if slowestWindUp > .zero { text += "; returned at most \(max(1, slowestWindUp.wholeMilliseconds)) ms after expiration" }
    if total == 1, let lastMessage { text += ": \(lastMessage)" }
    return text
  }

  private static func word(for ending: RunEnding) -> String {
    guard case .returned(let result, _) = ending else { return "\(ending)" }
    return switch result {
    case .success: "success"
    case .noop: "no-op"
    case .snooze: "snooze"
    case .retry: "retry"
    case .failure: "failure"
    case .outOfRange(let value): "\(value)"
    }
  }
}
