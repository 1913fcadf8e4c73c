import CTaskHostSystem
import Glibc
public import HostThreads
import TaskModel

/// The one thread that waits for all worker processes: their links, outputs, ends and deadlines.
///
/// What it calls returns promptly; it never waits for a worker. Where nothing is due it sleeps.
public final class WorkerEventLoop: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  /// What is told of readiness and of deadlines, on the loop's thread.
  protocol Watcher: AnyObject, Sendable {
    /// A descriptor that was added for `purpose` is ready.
    func ready(_ purpose: UInt8, writable: Bool, readable: Bool)
  }

  /// What is told when its time has come, on the loop's thread; answers when it is to be told again.
  protocol Sleeper: AnyObject, Sendable {
    func due(at now: MonotonicTime) -> MonotonicTime
  }

  private struct Watched {
    let watcher: any Watcher
    let purpose: UInt8
    let descriptor: Int32
  }

  private struct Sleeping {
    let sleeper: any Sleeper
    var deadline: MonotonicTime
  }

  private let monitor = Monitor()
  private let poll: Int32
  /// Readable while the thread is to look up.
  private let wake: (read: Int32, write: Int32)
  private var watched: [UInt64: Watched] = [:]
  private var nextToken: UInt64 = 1
  private var sleeping: [ObjectIdentifier: Sleeping] = [:]
  /// Not later than the first deadline.
  private var nextDeadline = MonotonicTime.distantFuture
  /// Until when the thread sleeps; `distantFuture` too while it is up.
  private var sleepsUntil = MonotonicTime.distantFuture
  private var isAsleep = false
  private var hasEnded = false
  /// The descriptors are another's from now on.
  private var isClosed = false
  private static let wakeToken: UInt64 = 0

  /// Starts the thread.
  public init() throws(HostThread.Failure) {
    poll = taskhost_poll_create()
    var ends: [Int32] = [-1, -1]
    guard poll >= 0, pipe(&ends) == 0 else { throw HostThread.Failure(code: errno) }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = taskhost_set_nonblocking(end)
    }
    wake = (ends[0], ends[1])
    guard taskhost_poll_set(poll, wake.read, 1, 0, Self.wakeToken) == 0 else { throw HostThread.Failure(code: errno) }
    try HostThread.start("workers", precise: true) { [self] in serve() }
  }

  /// Ends the thread; nothing is told any more.
  public func end() {
    monitor.locked {
      hasEnded = true
      rouse()
    }
  }

  /// Watches a descriptor for reading until ``remove(_:)``.
  ///
  /// - Returns: What the descriptor is known by here; nil: the system would not watch it.
  func add(_ descriptor: Int32, _ watcher: any Watcher, purpose: UInt8) -> UInt64? {
    monitor.locked {
      guard !isClosed else { return nil }
      let token = nextToken
      nextToken += 1
      guard taskhost_poll_set(poll, descriptor, 1, 0, token) == 0 else { return nil }
      watched[token] = Watched(watcher: watcher, purpose: purpose, descriptor: descriptor)
      return token
    }
  }

  /// Whether a watched descriptor is watched for writing too.
  func watchWriting(_ token: UInt64, _ isWanted: Bool) {
    monitor.locked {
      guard !isClosed, let entry = watched[token] else { return }
      _ = taskhost_poll_set(poll, entry.descriptor, 0, isWanted ? 1 : 0, token)
    }
  }

  /// Forgets a descriptor; it may be closed now.
  func remove(_ token: UInt64) {
    monitor.locked {
      guard let entry = watched.removeValue(forKey: token), !isClosed else { return }
      _ = taskhost_poll_remove(poll, entry.descriptor)
    }
  }

  /// Tells `sleeper` at `deadline` at the latest.
  func arm(_ sleeper: any Sleeper, at deadline: MonotonicTime) {
    monitor.locked {
      let id = ObjectIdentifier(sleeper)
      guard deadline < sleeping[id]?.deadline ?? .distantFuture else { return }
      sleeping[id] = Sleeping(sleeper: sleeper, deadline: deadline)
      guard deadline < nextDeadline else { return }
      nextDeadline = deadline
      if isAsleep, deadline < sleepsUntil { rouse() }
    }
  }

  /// With the lock held.
  private func rouse() {
    guard !isClosed else { return }
    var byte: UInt8 = 1
    _ = write(wake.write, &byte, 1)
  }

  private func serve() {
    var events = [taskhost_poll_event](repeating: taskhost_poll_event(), count: 64)
    while let wait = prepareSleep() {
      let count = taskhost_poll_wait(poll, &events, Int32(events.count), wait)
      monitor.locked { isAsleep = false }
      for event in events.prefix(max(0, Int(count))) {
        guard event.token != Self.wakeToken else {
          drainWake()
          continue
        }
        guard let entry = monitor.locked({ watched[event.token] }) else { continue }
        entry.watcher.ready(entry.purpose, writable: event.ready & 2 != 0, readable: event.ready & 1 != 0)
      }
      tellSleepers()
    }
    monitor.locked {
      isClosed = true
      close(poll)
      close(wake.read)
      close(wake.write)
    }
  }

  /// How long to sleep, in nanoseconds; negative: for ever; nil: the thread ends.
  private func prepareSleep() -> Int64? {
    monitor.locked {
      guard !hasEnded else { return nil }
      isAsleep = true
      sleepsUntil = nextDeadline
      guard nextDeadline != .distantFuture else { return -1 }
      return max(0, (nextDeadline - SystemClock.now).wholeNanoseconds)
    }
  }

  private func drainWake() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(wake.read, &bytes, bytes.count) == bytes.count {}
  }

  private func tellSleepers() {
    let now = SystemClock.now
    let due = monitor.locked { () -> [Sleeping] in
      guard now >= nextDeadline else { return [] }
      let due = sleeping.filter { $0.value.deadline <= now }
      for key in due.keys { sleeping.removeValue(forKey: key) }
      nextDeadline = sleeping.values.map(\.deadline).min() ?? .distantFuture
      return Array(due.values)
    }
    for entry in due {
      let next = entry.sleeper.due(at: now)
      if next != .distantFuture { arm(entry.sleeper, at: next) }
    }
  }
}
