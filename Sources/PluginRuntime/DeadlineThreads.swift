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
    var run: LiveRun?
    /// When it is to be looked at.
    var time = MonotonicTime.distantFuture
    /// The entry of the heap that stands for the slot. A later `time` does not move it: it comes early, and is put in anew.
    /// So a run that ends long before its deadline, as most do, costs the heap nothing.
    var entry = MonotonicTime.distantFuture
  }

  private final class Waiter {
    let monitor: Monitor
    var isLeader = false
    init(_ monitor: Monitor) { self.monitor = monitor }
  }

  private let lock = Monitor()
  private let work: @Sendable (LiveRun) -> Void
  private var heap = Heap<Entry>()
  private var slots: [Slot] = []
  /// Waiting threads, the last first. A thread waits on `lock` itself while it leads, else on a monitor of its own.
  private var followers: [Waiter] = []
  private var hasLeader = false
  private var starting = 0
  private static let spares = 2

  /// - Parameter work: Called on one of the threads when a run's time has come; it may block. Afterwards the run is armed again if it
  ///   is not over.
  init(work: @escaping @Sendable (LiveRun) -> Void) throws(HostThread.Failure) {
    self.work = work
    for _ in 0...Self.spares { try startThread() }
  }

  /// Looks at `run` at `time`, instead of when it was armed for before.
  func arm(_ run: LiveRun, at time: MonotonicTime) {
    let slot = Int(run.handle >> 48)
    lock.lock()
    while slots.count <= slot { slots.append(Slot()) }
    slots[slot].run = run
    slots[slot].time = time
    if time < slots[slot].entry {
      slots[slot].entry = time
      let isFirst = heap.min.map { time < $0.time } ?? true
      heap.insert(Entry(time: time, slot: slot))
      if isFirst { lock.signal() }
    }
    lock.unlock()
  }

  /// The run is over.
  func disarm(_ run: LiveRun) {
    let slot = Int(run.handle >> 48)
    lock.lock()
    if slot < slots.count, slots[slot].run === run { slots[slot].run = nil }
    lock.unlock()
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
    let waiter = Waiter(Monitor())
    lock.lock()
    starting -= 1
    while true {
      if hasLeader {
        guard followers.count < Self.spares else { break }
        follow(waiter)
      }
      hasLeader = true
      let run = lead()
      promote()
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
    while !waiter.isLeader { waiter.monitor.wait() }
    waiter.isLeader = false
    waiter.monitor.unlock()
    lock.lock()
  }

  /// With the lock held: makes a waiting thread the leader.
  private func promote() {
    guard let next = followers.popLast() else {
      hasLeader = false
      return
    }
    next.monitor.locked {
      next.isLeader = true
      next.monitor.signal()
    }
  }

  /// With the lock held: waits until a run's time has come.
  private func lead() -> LiveRun {
    while true {
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
      guard slots[first.slot].entry == first.time else { continue }
      slots[first.slot].entry = .distantFuture
      guard let run = slots[first.slot].run else { continue }
      let time = slots[first.slot].time
      if time <= first.time { return run }
      slots[first.slot].entry = time
      heap.insert(Entry(time: time, slot: first.slot))
    }
  }
}
