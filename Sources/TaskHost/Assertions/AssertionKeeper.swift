import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// Keeps the execution assertions of a host: ends each when it expires or its process ends, and tells a drain when none is held any more.
///
/// One thread waits for all deadlines and processes. It starts with the first assertion and sleeps while nothing is due.
final class AssertionKeeper: Sendable {
  private struct State {
    var table: AssertionTable
    /// For each process that is watched, a descriptor that is readable once it has ended (pidfd).
    var processes: [AssertionID: Int32] = [:]
    /// The drains that wait until nothing is held.
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// nil until the thread has been started, and once it ends.
    var loop: Loop?
    var hasEnded = false
  }

  /// What the thread waits for.
  private struct Loop {
    /// A set of descriptors (epoll).
    let poll: Int32
    /// Readable when the thread is to look again.
    let wake: Int32
  }

  private static let wakeToken: UInt64 = 0

  private let state: Guarded<State>
  private let tell: @Sendable (Assertion) -> Void
  private let spare: @Sendable (Set<RunID>) -> Void
  private let held: @Sendable (Bool) -> Void

  /// All are called on any thread. They must return at once, and not call the keeper.
  ///
  /// - Parameters:
  ///   - tell: Called when an assertion was taken or has ended, in this order.
  ///   - spare: Called with the runs that hold assertions when these have changed, before the run that took one goes on.
  ///   - held: Called with true when the first assertion is taken, and with false when the last one has ended.
  ///   - descriptors: How many descriptors the host may have open; nil: any number.
  init(
    descriptors: UInt64? = ProcessLimits.descriptors, tell: @escaping @Sendable (Assertion) -> Void,
    spare: @escaping @Sendable (Set<RunID>) -> Void, held: @escaping @Sendable (Bool) -> Void = { _ in }
  ) {
    state = Guarded(State(table: AssertionTable(origin: .random(in: .min ... .max), descriptors: descriptors)))
    self.tell = tell
    self.spare = spare
    self.held = held
  }

  /// The assertions that are held, oldest first.
  var all: [Assertion] { state.withLock { $0.table.list(at: SystemClock.now) } }

  /// How often an assertion was refused because too many were held.
  var refused: UInt64 { state.withLock { $0.table.refused } }

  /// Takes an assertion. Refused if the request is malformed or its process has ended, if the host drains, and if too many are held.
  func begin(_ request: AssertionRequest) throws(RequestRefusal) -> Assertion {
    try request.check()
    return try state.withLock { state throws(RequestRefusal) in
      try state.table.checkRoom(for: request)
      let loop = try start(&state)
      let process = try request.process.map { process throws(RequestRefusal) in try WatchedProcess.open(process) }
      let isFirst = state.table.isEmpty
      let assertion: Assertion
      do throws(RequestRefusal) {
        assertion = try state.table.begin(request, at: SystemClock.now, SystemClock().wallTime)
        if let process { try watch(process, of: assertion, &state, loop) }
      } catch {
        if let process { Glibc.close(process) }
        throw error
      }
      tell(assertion)
      if isFirst { held(true) }
      if request.run != nil { spare(state.table.holders) }
      _ = taskhost_system_event_set(loop.wake)
      return assertion
    }
  }

  /// Gives an assertion of a run back. Refused with `notFound` if the run does not hold it.
  func giveBack(_ id: AssertionID, by run: RunID) throws(RequestRefusal) {
    try state.withLock { state throws(RequestRefusal) in
      guard state.table.isHeld(id, by: run) else { throw RequestRefusal(.notFound, "the run holds no assertion \(id)") }
      settle([try state.table.giveBack(id)], &state)
    }
  }

  /// Ends the assertions of a run that has ended.
  func end(of run: RunID) {
    state.withLock { state in
      guard !state.table.isEmpty else { return }
      settle(state.table.end(of: run), &state)
    }
  }

  /// Gives an assertion back. Refused with `notFound` if it has ended.
  func giveBack(_ id: AssertionID) throws(RequestRefusal) -> Assertion {
    try state.withLock { state throws(RequestRefusal) in
      let assertion = try state.table.giveBack(id)
      settle([assertion], &state)
      return assertion
    }
  }

  /// Refuses new assertions from now on.
  func close() { state.withLock { $0.table.close() } }

  /// Waits until nothing is held. Call ``close()`` before.
  func released() async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.table.isEmpty { continuation.resume() } else { state.waiting.append(continuation) }
      }
    }
  }

  /// Ends the assertions that nobody can end any more, because clients no longer reach the host, and refuses new ones. Those of runs and
  /// of processes end with these.
  func controlFailed() {
    state.withLock { state in
      state.table.close()
      settle(state.table.endUnreachable(), &state)
    }
  }

  /// Ends all assertions and refuses new ones.
  func overrule() {
    state.withLock { state in
      state.table.close()
      settle(state.table.overrule(), &state)
    }
  }

  /// Ends the thread without waiting. No assertion is taken any more.
  func stop() {
    state.withLock { state in
      state.table.close()
      state.hasEnded = true
      if let loop = state.loop { _ = taskhost_system_event_set(loop.wake) }
    }
  }

  /// Carries out what follows from assertions that have just ended.
  private func settle(_ ended: [Assertion], _ state: inout State) {
    for assertion in ended {
      if let descriptor = state.processes.removeValue(forKey: assertion.id) {
        // Other processes may have inherited copies, so closing alone would not end the watch.
        if let loop = state.loop { _ = taskhost_poll_remove(loop.poll, descriptor) }
        Glibc.close(descriptor)
      }
      tell(assertion)
    }
    if ended.contains(where: { $0.request.run != nil }) { spare(state.table.holders) }
    guard !ended.isEmpty, state.table.isEmpty else { return }
    held(false)
    for continuation in state.waiting { continuation.resume() }
    state.waiting = []
  }

  // MARK: Processes

  /// Takes `descriptor` over, unless it throws; then the assertion is not held.
  private func watch(_ descriptor: Int32, of assertion: Assertion, _ state: inout State, _ loop: Loop) throws(RequestRefusal) {
    guard taskhost_poll_set(loop.poll, descriptor, 1, 0, UInt64(assertion.id.sequence)) == 0 else {
      let code = errno
      state.table.forget(assertion.id)
      throw WatchedProcess.unwatchable(assertion.request.process ?? 0, code)
    }
    state.processes[assertion.id] = descriptor
  }

  // MARK: The thread

  private func start(_ state: inout State) throws(RequestRefusal) -> Loop {
    if let loop = state.loop { return loop }
    let loop = Loop(poll: taskhost_poll_create(), wake: taskhost_system_event_create())
    func failed(_ reason: String) -> RequestRefusal {
      for descriptor in [loop.poll, loop.wake] where descriptor >= 0 { Glibc.close(descriptor) }
      return RequestRefusal(.unavailable, "no assertion can be watched: \(reason)")
    }
    guard loop.poll >= 0, loop.wake >= 0, taskhost_poll_set(loop.poll, loop.wake, 1, 0, Self.wakeToken) == 0 else {
      throw failed("\(ErrorNumber.last)")
    }
    do throws(HostThread.Failure) { try HostThread.start("assertions") { [self] in serve(loop) } } catch {
      throw failed(error.description)
    }
    state.loop = loop
    return loop
  }

  private func serve(_ loop: Loop) {
    var events = [taskhost_poll_event](repeating: taskhost_poll_event(), count: 64)
    while let wait = nextWait() {
      let count = taskhost_poll_wait(loop.poll, &events, Int32(events.count), wait)
      for event in events.prefix(max(0, Int(count))) {
        guard event.token != Self.wakeToken else {
          var value: UInt64 = 0
          _ = read(loop.wake, &value, MemoryLayout.size(ofValue: value))
          continue
        }
        endHolder(Int64(event.token))
      }
    }
    state.withLock { state in
      state.loop = nil
      for descriptor in [loop.poll, loop.wake] + state.processes.values { Glibc.close(descriptor) }
      state.processes = [:]
    }
  }

  /// Ends what is due.
  ///
  /// - Returns: How long to sleep in nanoseconds, negative for ever; nil if the thread ends.
  private func nextWait() -> Int64? {
    state.withLock { state in
      guard !state.hasEnded else { return nil }
      settle(state.table.expire(at: SystemClock.now), &state)
      return state.table.nextDeadline.map { max(0, ($0 - SystemClock.now).wholeNanoseconds) } ?? -1
    }
  }

  /// The process of the assertion with that sequence has ended.
  private func endHolder(_ sequence: Int64) {
    state.withLock { state in
      guard let id = state.processes.keys.first(where: { $0.sequence == sequence }) else { return }
      settle([state.table.end(id, as: .holderEnded)].compactMap(\.self), &state)
    }
  }
}
