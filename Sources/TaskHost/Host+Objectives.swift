import CalendarTime
import HostThreads
import TaskModel
import TaskScheduler

extension Host {
  /// What is expected of identifiers, and whether they are late.
  func objectives() async -> [ObjectiveState] {
    await withCheckedContinuation { continuation in scheduler.objectives { continuation.resume(returning: $0) } }
  }
}

extension ObjectiveState {
  /// What is late, for a person.
  var problems: [Problem] {
    var problems: [Problem] = []
    if let overdueSince, let expectWithin {
      let last =
        lastSuccess.map { "the last success was \(Self.moment($0))" } ?? "there has been none since \(Self.moment(countsFrom))"
      problems.append(
        Problem(
          .overdue, of: identifier.rawValue,
          "no run of \(identifier) has succeeded within expect_within (\(DurationText.format(expectWithin))): \(last)",
          remedy:
            "taskhost tasks list identifier:\(identifier), then taskhost tasks why ID, or taskhost runs list --identifier \(identifier)",
          since: overdueSince))
    }
    if let lateSince, let startWithin {
      problems.append(
        Problem(
          .late, of: identifier.rawValue,
          "work of \(identifier) has not begun within start_within (\(DurationText.format(startWithin))) of its time",
          remedy: "taskhost tasks list identifier:\(identifier) state:pending, then taskhost tasks why ID", since: lateSince))
    }
    return problems
  }

  private static func moment(_ time: WallTime) -> String { RFC3339.format(time) ?? "long ago" }
}
