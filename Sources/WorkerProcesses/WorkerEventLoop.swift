import CTaskHostSystem
import Glibc
public import HostThreads
import TaskModel

/// The one thread that waits for all worker processes: their links, outputs, ends and deadlines.
///
/// What it calls returns promptly; it never waits for a worker. Where nothing is due it sleeps.
public final class WorkerEventLoop: Sendable {
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

  private struct State {
    var watched: [UInt64: Watched] = [:]
    var nextToken: UInt64 = 1
    var sleeping: [ObjectIdentifier: Sleeping] = [:]
    /// Not later than the first deadline.
    var nextDeadline = MonotonicTime.distantFuture
    /// Until when the thread sleeps; `distantFuture` too while it is up.
    var sleepsUntil = MonotonicTime.distantFuture
    var isAsleep = false
    var hasEnded = false
    /// The descriptors are another's from now on.
    var isClosed = false
  }

  private let state = Guarded(State())
  private let poll: Int32
  /// Readable while the thread is to look up.
  private let wake: (read: Int32, write: Int32)
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
    state.withLock {
      $0.hasEnded = true
      rouse(&$0)
    }
  }

  /// Watches a descriptor for reading until ``remove(_:)``.
  ///
  /// - Returns: What the descriptor is known by here; nil: the system would not watch it.
  func add(_ descriptor: Int32, _ watcher: any Watcher, purpose: UInt8) -> UInt64? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let token = state.nextToken
      state.nextToken += 1
      guard taskhost_poll_set(poll, descriptor, 1, 0, token) == 0 else { return nil }
      state.watched[token] = Watched(watcher: watcher, purpose: purpose, descriptor: descriptor)
      return token
    }
  }

  /// Whether a watched descriptor is watched for writing too.
  func watchWriting(_ token: UInt64, _ isWanted: Bool) {
    state.withLock { state in
      guard !state.isClosed, let entry = state.watched[token] else { return }
      _ = taskhost_poll_set(poll, entry.descriptor, 0, isWanted ? 1 : 0, token)
    }
  }

  /// Forgets a descriptor; it may be closed now.
  func remove(_ token: UInt64) {
    state.withLock { state in
      guard let entry = state.watched.removeValue(forKey: token), !state.isClosed else { return }
      _ = taskhost_poll_remove(poll, entry.descriptor)
    }
  }

  /// Tells `sleeper` at `deadline` at the latest.
  func arm(_ sleeper: any Sleeper, at deadline: MonotonicTime) {
    state.withLock { state in
      let id = ObjectIdentifier(sleeper)
      guard deadline < state.sleeping[id]?.deadline ?? .distantFuture else { return }
      state.sleeping[id] = Sleeping(sleeper: sleeper, deadline: deadline)
      guard deadline < state.nextDeadline else { return }
      state.nextDeadline = deadline
      if state.isAsleep, deadline < state.sleepsUntil { rouse(&state) }
    }
  }

  private func rouse(_ state: inout State) {
    guard !state.isClosed else { return }
    var byte: UInt8 = 1
    _ = write(wake.write, &byte, 1)
  }

  private func serve() {
    var events = [taskhost_poll_event](repeating: taskhost_poll_event(), count: 64)
    while let wait = prepareSleep() {
      let count = taskhost_poll_wait(poll, &events, Int32(events.count), wait)
      state.withLock { $0.isAsleep = false }
      for event in events.prefix(max(0, Int(count))) {
        guard event.token != Self.wakeToken else {
          drainWake()
          continue
        }
        guard let entry = state.withLock({ $0.watched[event.token] }) else { continue }
        entry.watcher.ready(entry.purpose, writable: event.ready & 2 != 0, readable: event.ready & 1 != 0)
      }
      tellSleepers()
    }
    state.withLock {
      $0.isClosed = true
      close(poll)
      close(wake.read)
      close(wake.write)
    }
  }

  /// How long to sleep, in nanoseconds; negative: for ever; nil: the thread ends.
  private func prepareSleep() -> Int64? {
    state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.isAsleep = true
      state.sleepsUntil = state.nextDeadline
      guard state.nextDeadline != .distantFuture else { return -1 }
      return max(0, (state.nextDeadline - SystemClock.now).wholeNanoseconds)
    }
  }

  private func drainWake() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(wake.read, &bytes, bytes.count) == bytes.count {}
  }

  private func tellSleepers() {
    let now = SystemClock.now
    let due = state.withLock { state -> [Sleeping] in
      guard now >= state.nextDeadline else { return [] }
      let due = state.sleeping.filter { $0.value.deadline <= now }
      for key in due.keys { state.sleeping.removeValue(forKey: key) }
      state.nextDeadline = state.sleeping.values.map(\.deadline).min() ?? .distantFuture
      return Array(due.values)
    }
    for entry in due {
      let next = entry.sleeper.due(at: now)
      if next != .distantFuture { arm(entry.sleeper, at: next) }
    }
  }
}
