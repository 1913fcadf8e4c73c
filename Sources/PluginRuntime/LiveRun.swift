import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// A run from its order until its handler has returned: what the functions of the host's table work on.
///
/// Life: `waiting` for its thread → `live` → `closed`, by the handler's return or by force. A closed run answers no call.
/// After force the handler may still be running: the payload and the descriptor live on until it returns, because its thread holds the run.
final class LiveRun: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  enum Phase { case waiting, live, closed }
  enum Callback { case none, calling(pthread_t), returned }

  let order: RunOrder
  let services: any RunServices
  let sink: @Sendable (LauncherEvent) -> Void
  let monitor = Monitor()
  /// The handle that plugins know it by; set once, before the handler is called.
  var handle: taskhost_task = 0

  private(set) var phase = Phase.waiting
  /// When it expires by itself; moves on with progress for `continued`.
  private(set) var deadline = MonotonicTime.distantFuture
  /// Why it expired; nil: it has not.
  private(set) var stop: StopReason?
  private(set) var expiredAt = MonotonicTime.distantFuture
  private(set) var forceAt = MonotonicTime.distantFuture
  /// Asked for by the host, not yet carried out by a deadline thread.
  private var requestedStop: StopReason?
  private var requestedForce: StopReason?
  private var expirationHandler: taskhost_expiration_handler?
  private var expirationContext: UnsafeMutableRawPointer?
  private var callback = Callback.none
  private var eventDescriptor: Int32 = -1
  private var payload: UnsafeMutableRawPointer?
  private var requestID: UnsafePointer<CChar>?
  private var highestCompleted: UInt64 = 0
  private var report = RunReport()

  init(order: RunOrder, services: any RunServices, sink: @escaping @Sendable (LauncherEvent) -> Void) {
    self.order = order
    self.services = services
    self.sink = sink
  }

  deinit {
    if eventDescriptor >= 0 { Glibc.close(eventDescriptor) }
    free(payload)
    free(UnsafeMutablePointer(mutating: requestID))
  }

  var context: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  // MARK: Begin and end, on the run's thread

  /// The handler is about to be called: the clock starts. False: it was stopped while it waited.
  func begin() -> Bool {
    monitor.locked {
      guard phase == .waiting else { return false }
      phase = .live
      if let limit = order.contract.budget ?? order.contract.kind.stallLimit { deadline = SystemClock.now + limit }
      return true
    }
  }

  /// The handler returned. Nil: the run had been closed by force before.
  func end(result: taskhost_result, cpuTime: Duration) -> (RunEnding, RunReport)? {
    monitor.locked {
      guard phase != .closed else { return nil }
      phase = .closed
      report.stopReason = stop
      report.cpuTime = cpuTime
      let decoded = TaskResult(result)
      if case .outOfRange(let value) = decoded { report.message = "the handler returned \(value), which is no taskhost_result" }
      return (.returned(decoded, stop: stop), report)
    }
  }

  /// The run never got a thread: it ends as a RETRY that says so.
  func abandonStart(_ reason: String) -> (RunEnding, RunReport) {
    monitor.locked {
      phase = .closed
      report.message = reason
      return (.returned(.retry, stop: nil), report)
    }
  }

  // MARK: Stopping, on a deadline thread

  /// What a deadline thread has to do for the run now.
  enum Due {
    case nothing(next: MonotonicTime)
    case expire(StopReason)
    case force(StopReason)
  }

  /// Asks for expiration or force; the caller then arms the deadline threads for "now".
  func request(stop reason: StopReason, force: Bool) {
    monitor.locked {
      if force { requestedForce = reason } else { requestedStop = requestedStop ?? reason }
    }
  }

  func due(at now: MonotonicTime) -> Due {
    monitor.locked {
      guard phase != .closed else { return .nothing(next: .distantFuture) }
      if let reason = requestedForce { return .force(stop ?? reason) }
      if let stop { return now >= forceAt ? .force(stop) : .nothing(next: forceAt) }
      if let reason = requestedStop { return .expire(reason) }
      return now >= deadline
        ? .expire(order.contract.budget == nil ? .stalled : .budget) : .nothing(next: deadline)
    }
  }

  /// Marks the run expired, wakes who sleeps or polls, and calls the expiration handler, if one is set, on this thread.
  func expire(_ reason: StopReason) {
    monitor.lock()
    guard phase != .closed, stop == nil else { return monitor.unlock() }
    stop = reason
    expiredAt = SystemClock.now
    forceAt = expiredAt + order.contract.grace
    if eventDescriptor >= 0 { _ = taskhost_system_event_set(eventDescriptor) }
    let handler = expirationHandler
    let handlerContext = expirationContext
    callback = handler == nil ? .none : .calling(pthread_self())
    monitor.broadcast()
    monitor.unlock()
    if let handler {
      handler(handle, reason.code, handlerContext)
      monitor.locked {
        callback = .returned
        monitor.broadcast()
      }
    }
    sink(.expired(context, reason))
  }

  /// Closes the run although its handler has not returned. Nil: it had ended before.
  func close(byForce reason: StopReason) -> (RunEnding, RunReport, wasLive: Bool)? {
    monitor.locked {
      guard phase != .closed else { return nil }
      let wasLive = phase == .live
      phase = .closed
      stop = stop ?? reason
      report.stopReason = stop
      report.forced = true
      if eventDescriptor >= 0 { _ = taskhost_system_event_set(eventDescriptor) }
      monitor.broadcast()
      return (.forced(reason), report, wasLive)
    }
  }

  // MARK: Calls from the plugin, any thread

  /// Runs `body` with the lock held if the run is live.
  func whileLive<Value>(_ body: () throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    guard phase == .live else { throw .stale }
    return try body()
  }

  func payloadBytes() throws(CallFailure) -> (UnsafeRawPointer, Int) {
    try whileLive { () throws(CallFailure) in
      let count = order.payload.count
      if payload == nil {
        // One byte more, zero, so that JSON may be read as a C string.
        guard let copy = malloc(count + 1) else { throw CallFailure(.internal, "out of memory") }
        order.payload.withUnsafeBytes { if let base = $0.baseAddress { copy.copyMemory(from: base, byteCount: count) } }
        copy.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        payload = copy
      }
      guard let payload else { throw CallFailure(.internal, "out of memory") }
      return (UnsafeRawPointer(payload), count)
    }
  }

  func requestIDText() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileLive { () throws(CallFailure) in
      if requestID == nil { requestID = UnsafePointer(strdup(order.request.description)) }
      guard let requestID else { throw CallFailure(.internal, "out of memory") }
      return requestID
    }
  }

  /// Until expiration; not positive once expired.
  func remaining() throws(CallFailure) -> Duration {
    try whileLive { stop == nil ? deadline - SystemClock.now : min(.zero, expiredAt - SystemClock.now) }
  }

  func graceLeft() throws(CallFailure) -> Duration {
    try whileLive { stop == nil ? order.contract.grace : forceAt - SystemClock.now }
  }

  func descriptor() throws(CallFailure) -> Int32 {
    try whileLive { () throws(CallFailure) in
      if eventDescriptor < 0 {
        eventDescriptor = taskhost_system_event_create()
        guard eventDescriptor >= 0 else { throw CallFailure(.unavailable, "no descriptor is left: \(String(cString: strerror(errno)))") }
        if stop != nil { _ = taskhost_system_event_set(eventDescriptor) }
      }
      return eventDescriptor
    }
  }

  func setExpirationHandler(_ handler: taskhost_expiration_handler?, context: UnsafeMutableRawPointer?) throws(CallFailure) {
    monitor.lock()
    defer { monitor.unlock() }
    guard let handler else { return try clearExpirationHandler() }
    guard phase == .live else { throw .stale }
    guard stop == nil else { throw CallFailure(.expired, "the run has expired: the handler will not be called") }
    expirationHandler = handler
    expirationContext = context
  }

  /// With the lock held. Waits for a call in progress, also after force, since its context may be on the run's stack.
  private func clearExpirationHandler() throws(CallFailure) {
    if case .calling(let thread) = callback, pthread_equal(thread, pthread_self()) == 0 {
      while case .calling = callback { monitor.wait() }
    }
    expirationHandler = nil
    expirationContext = nil
    guard phase == .live else { throw .stale }
    if case .none = callback { return }
    throw CallFailure(.expired, "the expiration handler was called")
  }

  /// Returns what a sleeper is told; the lock is given back while it sleeps.
  func sleep(_ duration: Duration) throws(CallFailure) {
    let end = SystemClock.now + duration
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      guard phase == .live else { throw .stale }
      guard stop == nil else { throw CallFailure(.expired, "the run has expired") }
      guard SystemClock.now < end else { return }
      monitor.wait(until: end)
    }
  }

  /// Returns the new deadline where progress moved it.
  func setProgress(completed: UInt64, total: UInt64) throws(CallFailure) -> (RunProgress, moved: MonotonicTime?) {
    try whileLive {
      let progress = RunProgress(completed: completed, total: total)
      report.progress = progress
      var moved: MonotonicTime?
      if order.contract.budget == nil, let limit = order.contract.kind.stallLimit, progress.completed > highestCompleted {
        deadline = SystemClock.now + limit
        moved = deadline
      }
      highestCompleted = max(highestCompleted, progress.completed)
      return (progress, moved)
    }
  }

  func log(_ line: LogLine) throws(CallFailure) {
    try whileLive {
      if report.log.count == Limits.keptLogLines { report.log.removeFirst() }
      report.log.append(line)
    }
  }

  func change(_ body: (inout RunReport) -> Void) throws(CallFailure) { try whileLive { body(&report) } }
}

extension CallFailure {
  /// The answer to a handle whose run is over, or that never was.
  static let stale = CallFailure(.stale, "the run is over, or never was")
}

extension TaskResult {
  /// What a handler's return value means.
  init(_ code: taskhost_result) {
    switch Int(code) {
    case Int(TASKHOST_SUCCESS): self = .success
    case Int(TASKHOST_NOOP): self = .noop
    case Int(TASKHOST_SNOOZE): self = .snooze
    case Int(TASKHOST_RETRY): self = .retry
    case Int(TASKHOST_FAILURE): self = .failure
    default: self = .outOfRange(code)
    }
  }
}

extension StopReason {
  /// The reason's number in the plugin contract.
  var code: taskhost_stop_reason {
    switch self {
    case .budget: taskhost_stop_reason(TASKHOST_STOP_BUDGET)
    case .cancelled: taskhost_stop_reason(TASKHOST_STOP_CANCELLED)
    case .conditions: taskhost_stop_reason(TASKHOST_STOP_CONDITIONS)
    case .draining: taskhost_stop_reason(TASKHOST_STOP_DRAINING)
    case .replaced: taskhost_stop_reason(TASKHOST_STOP_REPLACED)
    case .stalled: taskhost_stop_reason(TASKHOST_STOP_STALLED)
    }
  }
}
