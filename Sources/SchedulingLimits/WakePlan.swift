public import TaskModel

/// When to wake, so that what tolerates a delay runs together.
///
/// Waking at the first moment that something must not pass, and doing all that is due by then, needs as few wake-ups as there can be.
/// - Source: stabbing intervals by their right ends; as systemd's `AccuracySec`, Android's inexact alarms and the kernel's timer slack.
public enum WakePlan {
  /// Something that is due, and by how much later it may be done.
  public struct Wish: Sendable, Hashable {
    /// Not before that.
    public let due: WallTime
    /// Not later than ``due`` and this.
    public let latest: WallTime

    /// A negative tolerance is none; the end of the calendar is not passed.
    public init(due: WallTime, flex: Duration) {
      self.due = due
      latest = due + max(.zero, flex)
    }
  }

  /// A moment to wake at, and the wishes that are done then, by their places in the list.
  public struct Wake: Sendable, Hashable {
    /// When.
    public let time: WallTime
    /// Ascending.
    public let wishes: [Int]
  }

  /// When to wake next; nil: nothing is wished for, or only for ``WallTime/distantFuture``. In the past if something is late: at once.
  public static func next(_ wishes: some Sequence<Wish>) -> WallTime? {
    wishes.lazy.filter { $0.due != .distantFuture }.map(\.latest).min()
  }

  /// All wake-ups, if nothing else is wished for meanwhile: each wish in one of them, as few as there can be.
  public static func wakes(_ wishes: [Wish]) -> [Wake] {
    let order = wishes.indices.filter { wishes[$0].due != .distantFuture }.sorted { wishes[$0].latest < wishes[$1].latest }
    var wakes: [Wake] = []
    var isDone = Set<Int>()
    // What is due by a wake-up and not done before is done in it; those are not a run in this order, but in that of their dues.
    var byDue = order.sorted { wishes[$0].due < wishes[$1].due }[...]
    for index in order where !isDone.contains(index) {
      let time = wishes[index].latest
      let together = byDue.prefix { wishes[$0].due <= time }
      byDue = byDue.dropFirst(together.count)
      isDone.formUnion(together)
      wakes.append(Wake(time: time, wishes: together.sorted()))
    }
    return wakes
  }
}
