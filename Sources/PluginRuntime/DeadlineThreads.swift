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
final class DeadlineThreads: RunDeadlines, @unchecked Sendable {  // reason: everything that changes is touched with `lock` held
  private struct Entry: Comparable {
    let time: MonotonicTime
    let slot: Int
    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
  }

  /// The armed deadline of the run in a slot of the run table.
  private struct Slot {
    /// The last run that was armed or disarmed here; earlier runs of the slot are over.
    var handle: taskhost_task = 0
    var run: LiveRun?
    /// When to check the run.
    var time = MonotonicTime.distantFuture
    /// The slot's entry in the heap. A later `time` does not move it: the entry comes up early and is inserted again. So a run that ends
    /// long before its deadline, as most do, does not change the heap.
    var entry = MonotonicTime.distantFuture
  }

  private final class Waiter {
    let monitor = Monitor()
    var isPromoted = false
  }

  private let lock = Monitor()
  private let work: @Sendable (LiveRun) -> Void
  private var heap = Heap<Entry>()
  private var slots: [Slot] = []
  /// Waiting threads, the last one first. The leader waits on `lock`, followers on their own monitors.
  private var followers: [Waiter] = []
  private var hasLeader = false
  private var starting = 0
  private var hasEnded = false
  private static let spares = 2

  /// - Parameter work: Called on one of the threads when a run's time has come; it may block. It arms the run again unless the run is over.
  init(work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) {
    self.work = work
    do {
      lock.lock()
      defer { lock.unlock() }
      for _ in 0...Self.spares { try startThread() }
    } catch {
      end()
      throw error
    }
  }

  /// Ensures that `run` is checked at `time` at the latest. An earlier armed time stays; a run that is over is ignored.
  ///
  /// The armed time is cleared before `work` is called, so `work` arms a later time.
  func arm(_ run: LiveRun, at time: MonotonicTime) {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded, let slot = enter(run), slots[slot].run != nil, time < slots[slot].time else { return }
    slots[slot].time = time
    if time < slots[slot].entry { insert(Entry(time: time, slot: slot)) }
  }

  /// Forgets a run that is over: nothing arms it again.
  func disarm(_ run: LiveRun) {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded, let slot = enter(run) else { return }
    slots[slot].run = nil
    slots[slot].time = .distantFuture
  }

  /// Ends the threads, each when its work returns. No more work begins.
  func end() {
    lock.locked {
      hasEnded = true
      slots = []
      heap = Heap()
      lock.signal()
      while promote() {}
    }
  }

  /// With the lock held: claims the run's slot; nil if a later run has it.
  private func enter(_ run: LiveRun) -> Int? {
    let slot = Int(run.handle >> 48)
    while slots.count <= slot { slots.append(Slot()) }
    let counter: UInt64 = 0xFFFF_FFFF_FFFF
    if slots[slot].handle != run.handle {
      guard slots[slot].handle & counter < run.handle & counter else { return nil }
      slots[slot].handle = run.handle
      slots[slot].run = run
      slots[slot].time = .distantFuture
    }
    return slot
  }

  /// With the lock held.
  private func insert(_ entry: Entry) {
    slots[entry.slot].entry = entry.time
    // Stale entries are removed when their time comes; if too many accumulate, the heap is rebuilt.
    if heap.count > 64 + 2 * slots.count {
      heap = Heap(slots.indices.lazy.filter { self.slots[$0].entry != .distantFuture }.map { Entry(time: self.slots[$0].entry, slot: $0) })
      return lock.signal()
    }
    let isFirst = heap.min.map { entry.time < $0.time } ?? true
    heap.insert(entry)
    if isFirst { lock.signal() }
  }

  /// With the lock held.
  private func startThread() throws(HostThread.Failure) {
    starting += 1
    do { try HostThread.start("deadlines", precise: true) { [self] in serve() } } catch {
      starting -= 1
      throw error
    }
  }

  private func serve() {
    let waiter = Waiter()
    lock.lock()
    starting -= 1
    while !hasEnded {
      if hasLeader {
        guard followers.count < Self.spares else { break }
        follow(waiter)
      }
      hasLeader = true
      guard let run = lead() else { break }
      hasLeader = promote()
      lock.unlock()
      work(run)
      lock.lock()
    }
    lock.unlock()
  }

  /// With the lock held: waits to be promoted. The monitor's own lock closes the gap between giving `lock` back and waiting.
  private func follow(_ waiter: Waiter) {
    followers.append(waiter)
    waiter.monitor.lock()
    lock.unlock()
    while !waiter.isPromoted { waiter.monitor.wait() }
    waiter.isPromoted = false
    waiter.monitor.unlock()
    lock.lock()
  }

  /// With the lock held: promotes a waiting thread to leader. Returns false if there is none; then the next thread that arrives leads.
  private func promote() -> Bool {
    guard let next = followers.popLast() else { return false }
    next.monitor.locked {
      next.isPromoted = true
      next.monitor.signal()
    }
    return true
  }

  /// With the lock held: waits until a run's time has come. Nil means the threads end.
  private func lead() -> LiveRun? {
    while !hasEnded {
      // If no thread can be created now, the leader works without a successor, and later deadlines wait.
      if followers.isEmpty && starting == 0 { try? startThread() }
      guard let first = heap.min else {
        lock.wait()
        continue
      }
      guard SystemClock.now >= first.time else {
        lock.wait(until: first.time)
        continue
      }
      heap.removeMin()
      if let run = take(first) { return run }
    }
    return nil
  }

  /// With the lock held: the run that is due with `entry`, if any.
  private func take(_ entry: Entry) -> LiveRun? {
    let slot = entry.slot
    guard slots[slot].entry == entry.time else { return nil }
    slots[slot].entry = .distantFuture
    guard let run = slots[slot].run, slots[slot].time != .distantFuture else { return nil }
    guard slots[slot].time <= entry.time else {
      insert(Entry(time: slots[slot].time, slot: slot))
      return nil
    }
    slots[slot].time = .distantFuture
    return run
  }
}
