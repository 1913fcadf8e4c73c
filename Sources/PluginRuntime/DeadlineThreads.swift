import CTaskHost
import HeapModule
import HostThreads
import TaskModel

/// Carries out expiration and force on time, whatever handlers do.
///
/// Leader and followers: of a few threads one, the leader, waits for the earliest deadline. When it comes, the leader first makes a
/// waiting thread the leader and then does the work, an expiration handler's call perhaps, itself: so no deadline waits for another's
/// handler and none needs a hand-over. A leader makes sure of a successor before it waits; so a thread that hangs in a handler is
/// replaced at once, and none is made at a deadline.
/// - Source: Schmidt et al., "Leader/Followers" (POSA 2).
final class DeadlineThreads: @unchecked Sendable {  // reason: everything that changes is touched with `lock` held
  private struct Entry: Comparable {
    let time: MonotonicTime
    let slot: Int
    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
  }

  /// What is armed for the run in a slot of the run table.
  private struct Slot {
    /// The last run that was armed or disarmed here; a run that had the slot before it is over.
    var handle: taskhost_task = 0
    var run: LiveRun?
    /// When it is to be looked at.
    var time = MonotonicTime.distantFuture
    /// The entry of the heap that stands for the slot. A later `time` does not move it: it comes early, and is put in anew.
    /// So a run that ends long before its deadline, as most do, costs the heap nothing.
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
  /// Waiting threads, the last first. A thread waits on `lock` itself while it leads, else on a monitor of its own.
  private var followers: [Waiter] = []
  private var hasLeader = false
  private var starting = 0
  private var hasEnded = false
  private static let spares = 2

  /// - Parameter work: Called on one of the threads when a run's time has come; it may block. It arms the run again if that is not over.
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

  /// Looks at `run` at `time` at the latest. A time that is armed already and comes before it stays; a run that is over is left alone.
  ///
  /// What is armed is forgotten when `work` is called, so a later time is armed from there.
  func arm(_ run: LiveRun, at time: MonotonicTime) {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded, let slot = enter(run), slots[slot].run != nil, time < slots[slot].time else { return }
    slots[slot].time = time
    if time < slots[slot].entry { insert(Entry(time: time, slot: slot)) }
  }

  /// The run is over: nothing arms it again.
  func disarm(_ run: LiveRun) {
    lock.lock()
    defer { lock.unlock() }
    guard !hasEnded, let slot = enter(run) else { return }
    slots[slot].run = nil
    slots[slot].time = .distantFuture
  }

  /// Ends the threads, each when its work returns; nothing is carried out any more.
  func end() {
    lock.locked {
      hasEnded = true
      slots = []
      heap = Heap()
      lock.signal()
      while promote() {}
    }
  }

  /// With the lock held: the run's slot, now its own; nil where a later run has it.
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
    // Entries that nothing stands behind go when their time comes; where they pile up before it, the heap is made anew.
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

  /// With the lock held: makes a waiting thread the leader. False: there is none; the next thread that comes will lead.
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
      // Where no thread can be made now, the leader works without a successor and the deadlines behind it wait.
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

  /// With the lock held: the run whose time has come with `entry`, if one's has.
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
