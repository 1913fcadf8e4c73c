/// A table of `taskhost top`.
enum TopView: Int, CaseIterable, Sendable {
  case tasks, runs, requests, problems

  var title: String { "\(self)" }

  var columns: [String] {
    switch self {
    case .tasks: ["IDENTIFIER", "SCHEDULE", "LAST RUN", "ENDED", "SUCCESS", "FAILED", "NEXT", "MESSAGE"]
    case .runs: ["ID", "IDENTIFIER", "OUTCOME", "TRY", "STARTED", "TOOK", "PROGRESS"]
    case .requests: ["ID", "IDENTIFIER", "STATE", "WHEN", "TRY", "LAST", "REPEATS", "TAGS"]
    case .problems: ["", "KIND", "SINCE", "PROBLEM"]
    }
  }

  /// The columns that may be narrower than their texts, each with the least width that it keeps.
  var flexible: [Int: Int] {
    switch self {
    case .tasks: [0: 18, 1: 8, 7: 10]
    case .runs: [1: 18, 6: 16]
    case .requests: [1: 18, 7: 6]
    case .problems: [3: 20]
    }
  }

  /// The columns that a narrow screen leaves out, in this order.
  var dispensable: [Int] {
    switch self {
    case .tasks: [3, 4, 7, 1, 5]
    case .runs: [3, 4, 6, 5, 0]
    case .requests: [4, 5, 6, 7, 0]
    case .problems: [1, 2]
    }
  }

  /// Whether the host reads its filter; otherwise the filter is a part of what the row shows.
  var takesFilter: Bool { self == .runs || self == .requests }
}
