import TaskModel

/// The live runs of a forecast, in a heap ordered by their ends.
struct ForecastEnds {
  private var heap: [(at: WallTime, run: RunID)] = []

  /// When the next run ends; nil if no run is live.
  var first: WallTime? { heap.first?.at }

  mutating func insert(_ run: RunID, at time: WallTime) {
    heap.append((time, run))
    var child = heap.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes and returns the runs that have ended by `now`.
  mutating func remove(by now: WallTime) -> [RunID] {
    var ended: [RunID] = []
    while let first = heap.first, first.at <= now {
      ended.append(first.run)
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
      sift()
    }
    return ended
  }

  private mutating func sift() {
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, least) { least = child }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool { (heap[left].at, heap[left].run) < (heap[right].at, heap[right].run) }
}
