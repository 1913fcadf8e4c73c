import HeapModule
import TaskModel

/// The lanes with pending requests, by the time of their next one, so that a turn looks only at lanes that are due, however many there are.
///
/// A lane is either present, because it was due when the agenda was last asked, or it waits in a heap. A waiting lane whose time becomes
/// later keeps its entry: that comes up early, and the lane is entered again.
final class Agenda {
  private struct Entry: Comparable {
    let time: WallTime
    let lane: LaneState

    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
    static func == (left: Entry, right: Entry) -> Bool { left.time == right.time }
  }

  private var waiting = Heap<Entry>()
  private var present: [LaneState] = []
  /// The lanes with conditions. Those without a pending request are forgotten when there are many.
  private var conditioned: [LaneState] = []
  private var mostConditioned = fewConditioned
  private static let fewConditioned = 256

  /// The time of a lane has changed, or the lane is new.
  func changed(_ lane: LaneState) {
    guard !lane.isPresent, let time = lane.nextDue.earliest else { return }
    if let noted = lane.noted, noted <= time { return }
    lane.noted = time
    waiting.insert(Entry(time: time, lane: lane))
  }

  /// A lane of requests with conditions was created.
  func noteConditioned(_ lane: LaneState) {
    if conditioned.count >= mostConditioned {
      conditioned.removeAll { if case .never = $0.nextDue { true } else { false } }
      mostConditioned = max(Self.fewConditioned, conditioned.count * 2)
    }
    conditioned.append(lane)
  }

  /// When the next request that waits for its time is due and needs conditions that are not in `observed`; nil if none is to come.
  func nextDue(needingMoreThan observed: Conditions, after now: WallTime) -> WallTime? {
    conditioned.lazy.filter { !observed.isSuperset(of: $0.gates.conditions) && !$0.gates.isPaused }.compactMap(\.wakeTime)
      .filter { $0 > now }.min()
  }

  /// The lanes whose next request may be due by `horizon`, and those whose time is unknown.
  func lanes(dueBy horizon: WallTime) -> [LaneState] {
    while let entry = waiting.min, entry.time <= horizon {
      waiting.removeMin()
      // An entry for another time is out of date.
      guard entry.lane.noted == entry.time else { continue }
      entry.lane.noted = nil
      entry.lane.isPresent = true
      present.append(entry.lane)
    }
    present.removeAll { lane in
      if let time = lane.nextDue.earliest, time <= horizon { return false }
      lane.isPresent = false
      changed(lane)
      return true
    }
    return present
  }

  /// Visits the lanes that wait, by their times, until `visit` returns false. Call ``lanes(dueBy:)`` first, which has the others.
  func visitWaiting(_ visit: (LaneState) -> Bool) {
    var visited: [Entry] = []
    while let entry = waiting.popMin() {
      guard entry.lane.noted == entry.time else { continue }
      guard entry.lane.nextDue.earliest == entry.time else {
        entry.lane.noted = nil
        changed(entry.lane)
        continue
      }
      visited.append(entry)
      guard visit(entry.lane) else { break }
    }
    for entry in visited { waiting.insert(entry) }
  }
}
