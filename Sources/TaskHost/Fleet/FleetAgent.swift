import CTaskHostSystem
import FleetStore
import Glibc
import HostThreads
import Logging
import Synchronization
import TaskModel
import TaskScheduler

/// The host's part in its fleet: it claims what it could begin now, hands it to the scheduler, and records what became of it.
///
/// One thread looks for work and records what has ended, another one adds what is submitted here, and records what has ended if that is much.
/// What ended is kept until the database has taken it, or the lease has ended.
final class FleetAgent: Sendable {
  let place: FleetPlace
  let scheduler: Scheduler
  let lease: FleetLease
  let parking = FleetParking()
  let bound: FleetBound
  let state = Guarded(State())
  private let waker: Int32
  /// Whether the thread was woken and has not taken its work yet.
  private let isWoken = Atomic(false)
  /// Whether it is to look at the database, besides doing its work.
  private let mustLook = Atomic(false)
  /// Whether it is to look at the database if the host could take more.
  private let mayHaveRoom = Atomic(false)
  let log: Logger
  /// Since when somebody has read the host's events; nil if nobody does.
  let observedSince: @Sendable () -> MonotonicTime?
  /// Adds the progress of a run that goes on here.
  let complete: @Sendable (RunRecord) -> RunRecord
  /// Adds an event to them.
  let observe: @Sendable (HostEvent) -> Void

  /// The most submissions, and the most changes, that wait for the database: more would only wait longer.
  private static let mostWaiting = 10_000
  /// See ``State/untold``.
  private static let mostUntold = 1000
  /// How long it counts that a submission was refused.
  private static let refusalsCount = Duration.seconds(600)
  /// How long what another transaction keeps from being recorded is left alone.
  private static let lockedPause = Duration.seconds(1)

  /// - Parameters:
  ///   - mostPending: See ``HostConfiguration/Fleet/maxPending``.
  ///   - events: Has the ends of the fleet's runs on other hosts too.
  ///   - lasts: Told until when the workers of these identifiers may run, see ``FleetLease``.
  init(
    _ place: FleetPlace, mostPending: Int, _ scheduler: Scheduler, _ events: EventBroadcaster, log: Logger,
    lasts: @escaping @Sendable ([TaskIdentifier], Int64?) -> Void
  ) throws(HostFailure) {
    bound = FleetBound(most: mostPending)
    (self.place, self.scheduler, self.log) = (place, scheduler, log)
    observedSince = { [weak events] in events?.observedSince }
    complete = { [weak events] in events?.live.complete($0) ?? $0 }
    observe = { [weak events] in events?.receive(Scheduler.Notice.event($0)) }
    let waker = taskhost_system_event_create()
    guard waker >= 0 else { throw HostFailure(.temporary, "fleet: eventfd: \(ErrorNumber.last)") }
    self.waker = waker
    let (leaseChanged, leaseEnded) = (Awaited<@Sendable () -> Void>(), Awaited<@Sendable () -> Void>())
    lease = try FleetLease(
      place, log: log,
      mayJoin: { Self.runsNothing(scheduler) }, lasts: lasts, changed: { leaseChanged.wait()() }, ended: { leaseEnded.wait()() })
    scheduler.setFleet(host: place.host.name) { [clock = lease.clock] in clock.now }
    leaseChanged.set { [weak self] in self?.wake() }
    leaseEnded.set { [weak self] in self?.leaseHasEnded() }
  }

  deinit { close(waker) }

  /// Joins the fleet, as soon as its database can be reached.
  func begin() throws(HostFailure) {
    do {
      try start("fleet") { FleetExchanges($0).serve() }
      try start("fleet-send") { FleetOutbox($0).serve() }
    } catch { throw HostFailure(.temporary, "fleet: \(error)") }
    try lease.begin()
  }

  private func start(_ name: String, _ body: @escaping @Sendable (FleetAgent) -> Void) throws {
    state.withLock { $0.running += 1 }
    do {
      try HostThread.start(name) { [self] in
        body(self)
        ended()
      }
    } catch {
      ended()
      throw error
    }
  }

  private func ended() {
    let refused = state.withLock { state in
      state.running -= 1
      return state.running > 0 ? [] : state.recordings.refuse(nil, because: "the host has ended")
    }
    state.broadcast()
    for refuse in refused { refuse() }
  }

  /// Records what has ended, gives back the rest, and leaves. The scheduler must be drained.
  func stop() {
    state.withLock { $0.isOver = true }
    state.broadcast()
    wake()
    let end = SystemClock.now + .seconds(10)
    _ = state.wait(until: end) { state in state.running > 0 ? nil : true }
    lease.stop()
  }

  // MARK: Called on any thread

  /// Why the database cannot be used; nil if it can.
  var trouble: String? { lease.trouble ?? state.withLock { $0.trouble.failure }.map { "\($0)" } }

  /// Since when that is so.
  var troubleSince: WallTime? { [lease.failingSince, state.withLock { $0.trouble.since }].compactMap(\.self).min() }

  /// Why the database has refused what was submitted here, and since when; nil if it has not, or if nothing was submitted for some minutes.
  var refusals: (reason: String, since: WallTime)? {
    state.withLock { state in
      guard let failure = state.refusals.failure, let since = state.refusals.since, SystemClock.now < state.refusalsEnd else { return nil }
      return ("\(failure)", since)
    }
  }

  func noteSubmissions(refusedBecause failure: FleetError) {
    let isOwn = trouble == nil
    let isNews = state.withLock { state in
      state.refusalsEnd = SystemClock.now + Self.refusalsCount
      return state.refusals.begin(failure, tells: isOwn)
    }
    if isNews { log.error("what was submitted for the fleet is refused: \(failure)") }
  }

  func noteSubmissionsTaken() {
    if state.withLock({ $0.refusals.end() }) { log.notice("what is submitted for the fleet is taken again") }
  }

  func set(failure: FleetError?) {
    guard let failure else {
      if state.withLock({ $0.trouble.end() }) { log.notice("the fleet's database does what it is asked again") }
      return
    }
    // What concerns the lease too is in the log already.
    let isOwn = lease.trouble == nil
    if state.withLock({ $0.trouble.begin(failure, tells: isOwn) }) { log.error("\(failure)") }
  }

  /// Lets the thread look at the database.
  func wake() {
    mustLook.store(true, ordering: .releasing)
    wakeForWork()
  }

  /// Lets the thread look at the database if the host could take more.
  func wakeForRoom() {
    mayHaveRoom.store(true, ordering: .releasing)
    wakeForWork()
  }

  /// Lets the thread do what waits for it.
  func wakeForWork() {
    guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
    taskhost_system_event_set(waker)
  }

  /// The scheduler holds these no more.
  func surrendered(_ requests: [SurrenderedRequest]) {
    let areForOutbox = state.withLock { state in
      state.settled += requests
      return state.areForOutbox
    }
    if areForOutbox { state.broadcast() }
    wakeForRoom()
  }

  /// Changes requests of the fleet that no host runs.
  func add(_ errand: FleetErrand) {
    do throws(RequestRefusal) {
      try queue(errand, in: \.errands, submits: errand.submits)
      wakeForWork()
    } catch { errand.refuse(error) }
  }

  /// Lets something wait for one of the threads, which is not woken.
  func queue<Item>(_ item: Item, in queue: WritableKeyPath<State, [Item]>, submits: Bool) throws(RequestRefusal) {
    if let trouble = lease.trouble { throw Self.away(trouble, submits: submits) }
    let isTaken = state.withLock { state in
      guard !state.isOver, state[keyPath: queue].count < Self.mostWaiting else { return false }
      state[keyPath: queue].append(item)
      return true
    }
    guard isTaken else { throw Self.away("too many \(submits ? "submissions" : "changes") wait for its database", submits: submits) }
  }

  /// Refuses something because the fleet's database cannot be asked.
  ///
  /// - Parameter submits: Whether a submission is refused, and not a change.
  static func away(_ reason: String, submits: Bool = true) -> RequestRefusal {
    guard submits else { return RequestRefusal(.unavailable, "the fleet's requests cannot be changed now: \(reason); try again soon") }
    return RequestRefusal(.unavailable, "the fleet takes nothing now: \(reason); submit again soon")
  }

  private func leaseHasEnded() {
    let refused = state.withLock { state in
      (state.holdings, state.cancelled) = ([:], [])
      return state.recordings.refuse(nil, because: "the host's lease has ended")
    }
    for refuse in refused { refuse() }
    scheduler.forceLeased()
    wake()
  }

  /// From now on, the host has these schedules of the fleet's identifiers in its configuration.
  func set(_ schedules: [ScheduleName: ScheduledRequest]) {
    state.withLock { state in
      guard state.schedules != schedules else { return }
      state.schedules = schedules
      state.schedulesVersion += 1
    }
    wake()
  }

  /// These are in the fleet although they have ended in the host's store since it was exported: they must not run again.
  func set(stale: [RequestID]) {
    guard !stale.isEmpty else { return }
    log.warning(
      "\(stale.count) requests were imported into the fleet by an export that is older than their ends here: those that nobody runs are cancelled"
    )
    state.withLock { $0.unwanted += stale }
  }

  // MARK: For the thread that looks

  /// The schedules of the fleet's identifiers, with a number that changes with them.
  var schedules: (all: [ScheduleName: ScheduledRequest], version: Int) { state.withLock { ($0.schedules, $0.schedulesVersion) } }

  /// Cancels requests that are here, each once.
  func cancel(_ ids: [RequestID]) {
    guard !ids.isEmpty else { return }
    let new = state.withLock { state in ids.filter { state.holdings[$0] != nil && !state.cancelled.contains($0) } }
    // Its run may have ended at this moment.
    for id in new { cancelHeld(id) { _ in } }
  }

  /// Cancels a request of which the database knows that it is cancelled, if it is here.
  func cancelHeld(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    state.withLock { state in if state.holdings[id] != nil { state.cancelled.insert(id) } }
    scheduler.perform(.cancel(id)) { [weak self] result in
      // It may be on its way to the scheduler, or the store takes nothing now: the next look tells of it again.
      if case .failure(let refusal) = result, refusal.code != .conflict { self?.state.withLock { _ = $0.cancelled.remove(id) } }
      completion(result)
    }
  }

  /// Those of these requests that are not here.
  func notHeld(_ ids: [RequestID]) -> [RequestID] { state.withLock { state in ids.filter { state.holdings[$0] == nil } } }

  /// Leaves these for the next turn, before those that have come since.
  func putBack(_ errands: ArraySlice<FleetErrand>) {
    guard !errands.isEmpty else { return }
    state.withLock { $0.errands.insert(contentsOf: errands, at: 0) }
    wakeForWork()
  }

  /// Takes the changes that have arrived.
  func takeChanges() -> (errands: [FleetErrand], keepings: [Keeping]) {
    state.withLock { state in
      defer { (state.errands, state.keepings) = ([], []) }
      return (state.errands, state.keepings)
    }
  }

  /// Takes the work that has arrived.
  func takeWork() -> Work {
    // First the event: one that was set after the flag was taken back would be gone, and the flag would keep others from setting it again.
    var value: UInt64 = 0
    _ = read(waker, &value, 8)
    _ = isWoken.exchange(false, ordering: .acquiringAndReleasing)
    let mustLook = mustLook.exchange(false, ordering: .acquiringAndReleasing)
    let mayHaveRoom = mayHaveRoom.exchange(false, ordering: .acquiringAndReleasing)
    let isLeaving = lease.isLeaving
    return state.wait { state in
      let isEnding = state.isOver || isLeaving
      // What is being recorded must not be fenced.
      if isEnding, state.sending == .ends { return .again() }
      state.retryLocked(SystemClock.now)
      var work = Work(added: state.added, errands: state.errands[...], isOver: state.isOver, mustLook: mustLook, mayHaveRoom: mayHaveRoom)
      (state.added, state.errands) = (0, [])
      (work.keepings, state.keepings) = (state.keepings, [])
      if state.isOffered { (work.arrivals, state.arrivals) = (state.arrivals, []) }
      (state.isIdle, state.isOffered) = (false, false)
      if !isEnding, state.areForOutbox {
        // The other thread may not know of it: what could not be recorded here was put back.
        self.state.broadcast()
      } else {
        work.settled = state.takeEnded()
        work.hasMore = !state.unrecorded.isEmpty
      }
      return .done(work)
    }
  }

  /// The database has recorded these, which is told now, or they are somebody else's.
  ///
  /// - Parameter fenced: Those that are.
  func letGo(of ended: [Ended], fenced: [RequestID]) {
    let fenced = Set(fenced)
    let answers = state.withLock { state in
      state.letGo(of: ended)
      return state.recordings.refuse(fenced, because: "the host owns it no more")
        + state.recordings.recorded(ended.indices.lazy.map { ended[$0].request.record.id })
    }
    for answer in answers { answer() }
    guard observedSince() != nil else { return }
    // The answer to a transaction that recorded them may have been lost.
    if !fenced.isEmpty { state.withLock { state in if state.untold.count < Self.mostUntold { state.untold.formUnion(fenced) } } }
    for (request, _) in ended where !fenced.contains(request.record.id) {
      for run in request.runs { observe(.run(run)) }
      var record = request.record
      record.request.payload = []
      observe(.request(record))
    }
  }

  /// What could not be recorded comes again with the next work.
  ///
  /// - Parameter failure: Why it could not be.
  func putBack(_ work: Work, _ failure: FleetError) {
    let refused = state.withLock { state in
      state.unrecorded += work.settled
      state.added += work.added
      return state.refuse(work.settled, failure)
    }
    for refuse in refused { refuse() }
  }

  /// Another transaction keeps these from being recorded.
  func putBack(locked ended: [Ended]) {
    let refused = state.withLock { state in
      state.locked += ended
      state.lockedDue = SystemClock.now + Self.lockedPause
      return state.refuse(ended, .locked)
    }
    for refuse in refused { refuse() }
  }

  /// The database says that the host owns these. If its lease has ended meanwhile, it does not.
  func hold(_ claims: [ClaimedRequest], as incarnation: String) {
    let now = SystemClock.now
    state.withLock { state in
      guard lease.incarnation == incarnation else { return }
      for place in claims.indices {
        state.holdings[claims[place].id] = Holding(
          lane: claims[place].lane, incarnation: incarnation, epoch: claims[place].epoch, since: now, bytes: claims[place].bytes)
      }
    }
  }

  /// The scheduler has seen these: from now on, what of them it has no more has ended.
  func noteHandedOver(_ requests: [LeasedRequest]) {
    state.withLock { state in
      for place in requests.indices { state.holdings[requests[place].record.id]?.isHandedOver = true }
    }
  }

  /// What the host holds as this incarnation.
  func held(as incarnation: String, before time: MonotonicTime = .distantFuture) -> [RequestID] {
    state.withLock { state in state.holdings.filter { $0.value.incarnation == incarnation && $0.value.since < time }.map(\.key) }
  }

  /// What the host holds of these lanes.
  func held(of lanes: Set<Int64>) -> [RequestID] {
    state.withLock { state in state.holdings.filter { lanes.contains($0.value.lane) }.map(\.key) }
  }

  /// The claims that the host holds as this incarnation.
  func claims(as incarnation: String) -> [(id: RequestID, epoch: Int64)] {
    state.withLock { state in state.holdings.filter { $0.value.incarnation == incarnation }.map { ($0.key, $0.value.epoch) } }
  }

  /// See ``State/stillHeld(_:besides:)``.
  func stillHeld(_ claims: [(id: RequestID, epoch: Int64)], besides taken: [Ended]) -> [RequestID] {
    state.withLock { $0.stillHeld(claims, besides: taken) }
  }

  /// What the host holds and the scheduler has seen.
  func handedOver() -> [RequestID] { state.withLock { state in state.holdings.filter(\.value.isHandedOver).map(\.key) } }

  /// Whether none of the fleet's runs is live or handed out ahead here.
  static func runsNothing(_ scheduler: Scheduler) -> Bool {
    let live = Awaited<Int>()
    scheduler.leasedRuns { live.set($0) }
    return live.wait() == 0
  }

  /// Whether the host has requests of the fleet.
  var holdsAny: Bool { state.withLock { !$0.holdings.isEmpty } }

  /// Waits until there is work, for `pause` at most. Returns whether the database has sent a notification.
  func wait(on session: FleetSession?, for pause: Duration) throws(FleetError) -> Bool {
    let deadline = SystemClock.now + pause
    state.withLock { $0.isIdle = true }
    if let session { return try session.wait(waker: waker, until: deadline) }
    var polled = pollfd(fd: waker, events: Int16(POLLIN), revents: 0)
    poll(&polled, 1, Int32(clamping: (max(.zero, pause) + .milliseconds(1)).wholeMilliseconds))
    return false
  }
}
