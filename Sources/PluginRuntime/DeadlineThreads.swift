import CTaskHost
import HeapModule
import HostThreads
import TaskModel

/// Performs expiration and forced stops on time, whatever handlers do.
///
/// Leader and followers: one of a few threads, the leader, waits for the earliest deadline. When it comes, the leader first promotes a
/// waiting thread and then does the work itself, such as calling an expiration handler. So no deadline waits for another's handler, and
/// none needs a hand-over. A leader ensures that it has a successor before it waits. So a thread that hangs in a handler is replaced
/// immediately, and no thread is created at a deadline.
/// - Source: Schmidt et al., "Leader/Followers" (POSA 2).
final class DeadlineThreads: RunDeadlines {
  fileprivate struct Entry: Comparable {
    let time: MonotonicTime
    let slot: Int
    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
  }

  /// The armed deadline of the run in a slot of the run table.
  fileprivate struct Slot {
    /// The last run that was armed or disarmed here; earlier runs of the slot are over.
    var handle: taskhost_task = 0
    var run: LiveRun?
    /// When to check the run.
    var time = MonotonicTime.distantFuture
    /// The slot's entry in the heap. A later `time` does not move it: the entry comes up early and is inserted again. So a run that ends
    /// long before its deadline, as most do, does not change the heap.
    var entry = MonotonicTime.distantFuture
  }

  /// Where a follower waits to become the leader.
  fileprivate typealias Promotion = Guarded<Bool>

  fileprivate struct State {
    var heap = Heap<Entry>()
    var slots: [Slot] = []
    /// Waiting threads, the last one first. The leader waits on `state` itself.
    var followers: [Promotion] = []
    var hasLeader = false
    var starting = 0
    var hasEnded = false
  }

  private let state = Guarded(State())
  private let work: @Sendable (LiveRun) -> Void
  private static let spares = 2

  /// - Parameter work: Called on one of the threads when a run's time has come; it may block. It arms the run again unless the run is over.
  init(work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) {
    self.work = work
    do throws(HostThread.Failure) {
      try state.withLock { (state) throws(HostThread.Failure) in for _ in 0...Self.spares { try startThread(&state) } }
    } catch {
      end()
      throw error
    }
  }

  /// Ensures that `run` is checked at `time` at the latest. An earlier armed time stays; a run that is over is ignored.
  ///
  /// The armed time is cleared before `work` is called, so `work` arms a later time.
  func arm(_ run: LiveRun, at time: MonotonicTime) {
    let isFirst = state.withLock { state in
      guard !state.hasEnded, let slot = state.enter(run), state.slots[slot].run != nil, time < state.slots[slot].time else { return false }
      state.slots[slot].time = time
      return time < state.slots[slot].entry && state.insert(Entry(time: time, slot: slot))
    }
    if isFirst { state.signal() }
  }

  /// Forgets a run that is over: nothing arms it again.
  func disarm(_ run: LiveRun) {
    state.withLock { state in
      guard !state.hasEnded, let slot = state.enter(run) else { return }
      state.slots[slot].run = nil
      state.slots[slot].time = .distantFuture
    }
  }

  /// Ends the threads, each when its work returns. No more work begins.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.slots = []
      state.heap = Heap()
      while state.promote() {}
    }
    state.signal()
  }

  private func startThread(_ state: inout State) throws(HostThread.Failure) {
    try HostThread.start("deadlines", precise: true) { [self] in serve() }
    state.starting += 1
  }

  private func serve() {
    let promotion = Promotion(false)
    state.withLock { $0.starting -= 1 }
    while becomeLeader(promotion), let run = lead() { work(run) }
  }

  /// Waits until this thread is the leader. False: it is to end.
  private func becomeLeader(_ promotion: Promotion) -> Bool {
    let isLeader = state.withLock { state -> Bool? in
      if state.hasEnded { return false }
      guard state.hasLeader else {
        state.hasLeader = true
        return true
      }
      guard state.followers.count < Self.spares else { return false }
      state.followers.append(promotion)
      return nil
    }
    if let isLeader { return isLeader }
    promotion.wait { (isPromoted) -> Promotion.Look<Void> in
      guard isPromoted else { return .again() }
      isPromoted = false
      return .done(())
    }
    return true
  }

  /// Waits until a run's time has come, and makes another thread the leader. Nil: the threads end.
  private func lead() -> LiveRun? {
    state.wait { (state) -> Guarded<State>.Look<LiveRun?> in
      while !state.hasEnded {
        // If no thread can be created now, the leader works without a successor, and later deadlines wait.
        if state.followers.isEmpty && state.starting == 0 { try? startThread(&state) }
        guard let first = state.heap.min else { return .again() }
        guard SystemClock.now >= first.time else { return .again(by: first.time) }
        state.heap.removeMin()
        guard let run = state.take(first) else { continue }
        state.hasLeader = state.promote()
        return .done(run)
      }
      return .done(nil)
    }
  }
}

extension DeadlineThreads.State {
  /// Claims the run's slot; nil if a later run has it.
  fileprivate mutating func enter(_ run: LiveRun) -> Int? {
    let slot = Int(run.handle >> 48)
    while slots.count <= slot { slots.append(DeadlineThreads.Slot()) }
    let counter: UInt64 = 0xFFFF_FFFF_FFFF
    if slots[slot].handle != run.handle {
      guard slots[slot].handle & counter < run.handle & counter else { return nil }
      slots[slot].handle = run.handle
      slots[slot].run = run
      slots[slot].time = .distantFuture
    }
    return slot
  }

  /// Returns whether the leader must look again, because the entry is the first.
  @discardableResult fileprivate mutating func insert(_ entry: DeadlineThreads.Entry) -> Bool {
    slots[entry.slot].entry = entry.time
    // Stale entries are removed when their time comes; if too many accumulate, the heap is rebuilt.
    if heap.count > 64 + 2 * slots.count {
      heap = Heap(slots.indices.filter { slots[$0].entry != .distantFuture }.map { .init(time: slots[$0].entry, slot: $0) })
      return true
    }
    let isFirst = heap.min.map { entry.time < $0.time } ?? true
    heap.insert(entry)
    return isFirst
  }

  /// The run that is due with `entry`, if any.
  fileprivate mutating func take(_ entry: DeadlineThreads.Entry) -> LiveRun? {
    let slot = entry.slot
    guard slots[slot].entry == entry.time else { return nil }
    slots[slot].entry = .distantFuture
    guard let run = slots[slot].run, slots[slot].time != .distantFuture else { return nil }
    guard slots[slot].time <= entry.time else {
      insert(.init(time: slots[slot].time, slot: slot))
      return nil
    }
    slots[slot].time = .distantFuture
    return run
  }

  /// Promotes a waiting thread to leader. Returns false if there is none; then the next thread that arrives leads.
  fileprivate mutating func promote() -> Bool {
    guard let next = followers.popLast() else { return false }
    next.withLock { $0 = true }
    next.signal()
    return true
  }
}
