import TaskModel

/// The pending requests of a lane, by priority and due time.
final class MemoryLane {
  /// The requests of one priority.
  private struct Level {
    let priority: Int
    var keys = SortedKeys()
  }

  let lane: Lane
  /// The levels, highest priority first. Few are in use at a time.
  private var levels: [Level] = []
  private(set) var count = 0

  init(_ lane: Lane) { self.lane = lane }

  func insert(_ id: Int64, due: Int64, priority: Int) {
    count += 1
    let position = levels.firstIndex { $0.priority <= priority } ?? levels.count
    if position == levels.count || levels[position].priority != priority { levels.insert(Level(priority: priority), at: position) }
    levels[position].keys.insert(SortedKeys.Key(rank: due, id: id))
  }

  func remove(_ id: Int64, due: Int64, priority: Int) {
    guard let position = levels.firstIndex(where: { $0.priority == priority }) else { return }
    count -= 1
    levels[position].keys.remove(SortedKeys.Key(rank: due, id: id))
    if levels[position].keys.isEmpty { levels.remove(at: position) }
  }

  /// The pending request that is due first; nil if none is pending.
  var first: SortedKeys.Key? {
    var first: SortedKeys.Key?
    for level in levels {
      guard let key = level.keys.first else { continue }
      if first.map({ key.rank < $0.rank }) ?? true { first = key }
    }
    return first
  }

  /// For each priority, visits the first `limit` requests due by `now`.
  func due(by now: Int64, limit: Int, _ body: (_ key: SortedKeys.Key, _ priority: Int) -> Void) {
    for level in levels { for key in level.keys.prefix(through: now, limit: limit) { body(key, level.priority) } }
  }

  /// The ids of all requests in the lane.
  var ids: [Int64] {
    var ids: [Int64] = []
    for level in levels {
      level.keys.visit { key in
        ids.append(key.id)
        return true
      }
    }
    return ids
  }
}
