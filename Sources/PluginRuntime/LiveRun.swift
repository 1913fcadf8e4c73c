import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
import Synchronization
package import TaskModel

/// A run from its order until its handler has returned. It keeps a ``RunMachine`` inside a lock, and the memory that the plugin is lent.
///
/// The functions of the host's table operate on it. A run that is over refuses all calls. After force the handler may still be running:
/// the payload and the descriptor live on until it returns, because its thread holds the run.
package final class LiveRun: Sendable {
  struct State {
    var machine: RunMachine
    /// Readable once the run has expired; below 0: not asked for yet.
    var descriptor: Int32 = -1
    var payload: LentBytes?
    var requestID: LentBytes?
  }

  let order: RunOrder
  /// What serves it; nil in tests without handlers.
  let handler: PluginHandler?
  /// The kinds of all handlers of its plugin.
  let kinds: [TaskIdentifier: TaskKind]
  package let services: any RunServices
  package let clock: any RunClock
  let sink: @Sendable (LauncherEvent) -> Void
  /// Nil in tests without deadlines.
  private let deadlines: (any RunDeadlines)?
  private let state: Guarded<State>
  private let assignedHandle = Atomic<taskhost_task>(0)

  init(
    order: RunOrder, handler: PluginHandler? = nil, kinds: [TaskIdentifier: TaskKind] = [:], stallLimit: Duration?,
    isSuspended: Bool = false,
    services: any RunServices, clock: any RunClock = MachineClock(), deadlines: (any RunDeadlines)? = nil,
    sink: @escaping @Sendable (LauncherEvent) -> Void
  ) {
    self.order = order
    (self.handler, self.kinds) = (handler, kinds)
    self.services = services
    self.clock = clock
    self.sink = sink
    self.deadlines = deadlines
    let machine = RunMachine(order, stallLimit: stallLimit, limitsReports: clock.limitsReports, isSuspended: isSuspended)
    state = Guarded(State(machine: machine))
  }

  deinit { state.withLock { if $0.descriptor >= 0 { Glibc.close($0.descriptor) } } }

  /// Its handle for plugins; set once, before any other code sees the run.
  var handle: taskhost_task {
    get { assignedHandle.load(ordering: .relaxed) }
    set { assignedHandle.store(newValue, ordering: .relaxed) }
  }

  package var context: RunReference { RunReference(run: order.run, request: order.request, identifier: order.contract.identifier) }

  /// Applies an event; the caller performs the effects.
  func handle(_ event: RunMachine.Event) -> [RunMachine.Effect] {
    let now = clock.now
    return state.withLock { state in
      let effects = state.machine.handle(event, at: now)
      guard case .rouse? = effects.first else { return effects }
      if state.descriptor >= 0, state.machine.report.stopReason != nil { _ = taskhost_system_event_set(state.descriptor) }
      self.state.broadcast()
      return effects
    }
  }

  func ask<Value: Sendable, Failure: Error>(_ question: (RunMachine) throws(Failure) -> Value) throws(Failure) -> Value {
    try state.withLock { (state) throws(Failure) in try question(state.machine) }
  }

  // MARK: The plugin's calls, on any thread

  /// Runs `body` with the lock held if the run is live; throws `stale` otherwise.
  func whileLive<Value: Sendable>(_ body: (inout State) throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    try state.withLock { (state) throws(CallFailure) in
      guard state.machine.isLive else { throw .stale }
      return try body(&state)
    }
  }

  /// The payload followed by a 0 byte; the run owns the memory.
  func payloadBytes() throws(CallFailure) -> LentBytes {
    try whileLive { (state) throws(CallFailure) in
      if let lent = state.payload { return lent }
      let lent = try LentBytes(order.payload)
      state.payload = lent
      return lent
    }
  }

  /// The request's id; the run owns the memory.
  func requestIDText() throws(CallFailure) -> LentBytes {
    try whileLive { (state) throws(CallFailure) in
      if let lent = state.requestID { return lent }
      let lent = try LentBytes(Array(order.request.description.utf8))
      state.requestID = lent
      return lent
    }
  }

  /// Whole milliseconds until expiration: positive before the run has expired, 0 or negative afterwards.
  func remainingMilliseconds() throws(CallFailure) -> Int64 {
    try ask { (run) throws(CallFailure) in try run.remainingMilliseconds(at: clock.now) }
  }

  /// Whole milliseconds until the forced stop; before expiration, the whole grace.
  func graceMilliseconds() throws(CallFailure) -> Int64 {
    try ask { (run) throws(CallFailure) in try run.graceMilliseconds(at: clock.now) }
  }

  /// The descriptor that is readable once the run has expired; the run closes it.
  func descriptor() throws(CallFailure) -> Int32 {
    try whileLive { (state) throws(CallFailure) in
      if state.descriptor < 0 {
        state.descriptor = taskhost_system_event_create()
        guard state.descriptor >= 0 else { throw CallFailure(.unavailable, "no descriptor is left: \(String(cString: strerror(errno)))") }
        if state.machine.report.stopReason != nil { _ = taskhost_system_event_set(state.descriptor) }
      }
      return state.descriptor
    }
  }

  /// Sleeps without holding the lock. Throws `expired` as soon as the run expires, `stale` as soon as it is over.
  func sleep(_ duration: Duration) throws(CallFailure) {
    let end = clock.now + duration
    try wait { (state) throws(CallFailure) in
      guard state.machine.isLive else { throw .stale }
      guard state.machine.report.stopReason == nil else { throw CallFailure(.expired, "the run has expired") }
      return clock.now < end ? .again(by: end) : .done(())
    }
  }

  /// Records progress, and reports it unless the rate limit is reached. Its unit and message are given apart.
  func advance(_ progress: RunProgress, unit: ProgressDetail = .kept, message: ProgressDetail = .kept) throws(CallFailure) {
    tell(
      try whileLive { (state) throws(CallFailure) in
        try state.machine.advance(progress, unit: unit, message: message, at: clock.now)
      })
  }

  /// Adds to the run's counts, and reports them unless they were reported just before.
  func add(_ work: RunWork) throws(CallFailure) {
    tell(try whileLive { (state) throws(CallFailure) in try state.machine.add(work, at: clock.now) })
  }

  /// Keeps a span, if the run's trace is recorded.
  func add(_ span: RunSpan) throws(CallFailure) {
    guard order.trace?.current.isSampled == true else { return }
    try whileLive { (state) throws(CallFailure) in try state.machine.add(span) }
  }

  /// Keeps and reports a log line, unless the rate limit is reached.
  func log(_ line: LogLine) throws(CallFailure) {
    tell(try whileLive { (state) throws(CallFailure) in try state.machine.log(line, at: clock.now) })
  }

  private func tell(_ effects: [RunMachine.Effect]) { for case .tell(let event) in effects { sink(event) } }

  /// Changes the report of the run.
  func change(_ body: (inout RunReport) -> Void) throws(CallFailure) {
    let report = try whileLive { state in
      body(&state.machine.report)
      return state.machine.report
    }
    clock.changed(report, of: self)
  }

  /// The header's set_expiration_handler: sets, or clears with NULL.
  ///
  /// Clearing waits for a call on another thread, also after force, since the call's context may be on the run's stack.
  func setExpirationHandler(_ handler: taskhost_expiration_handler?, context: UnsafeMutableRawPointer?) throws(CallFailure) {
    let call = handler.map { ExpirationCall(handler: $0, context: context) }
    try wait { (state) throws(CallFailure) in
      if let call { return .done(try state.machine.set(call)) }
      if state.machine.isExpirationHandlerRunning(apartFrom: pthread_self()) { return .again() }
      return .done(try state.machine.clearExpirationHandler())
    }
  }

  /// Has a deadline thread check the run at that time at the latest.
  func arm(at time: MonotonicTime) { deadlines?.arm(self, at: time) }

  func wait<Value: Sendable>(_ look: (inout State) throws(CallFailure) -> Guarded<State>.Look<Value>) throws(CallFailure) -> Value {
    try state.wait(pausing: { clock.wait($0, until: $1, for: self) }) { (state) throws(CallFailure) in try look(&state) }
  }

  /// Calls the expiration handler; may never return.
  func perform(_ call: ExpirationCall, reason: StopReason) -> [RunMachine.Effect] {
    ThreadExit.whileServing(order.run) { call.handler(handle, reason.code, call.context) }
    return handle(.expirationHandlerReturned)
  }
}
