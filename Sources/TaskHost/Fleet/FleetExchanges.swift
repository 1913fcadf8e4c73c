import FleetStore
import HostThreads
import Logging
import TaskModel
import TaskScheduler

/// The work of the agent's thread: each turn records what has ended, and claims what could begin.
final class FleetExchanges {
  let agent: FleetAgent
  private var session: FleetSession?
  /// What the last connection left at the server.
  private var left: Int64?
  var lanes = FleetLanes()
  var writer: FleetWriter
  private var failures = 0
  /// The incarnation for which what it does not know was given back on this connection.
  private var cleared: String?
  /// When that is done again; nil as long as no answer was lost, and no pool is there. A transaction whose answer was lost may claim long after:
  /// behind a pool, nothing ends it.
  private var clearingDue: MonotonicTime?
  private let schedules: FleetSchedules
  private let progress: FleetProgress
  private let successes: FleetSuccesses
  private let stream: FleetStream
  private let care: FleetCare
  /// When reasons may be published again, when they are looked at again for the same lanes, and what was published last.
  private var publishDue = MonotonicTime(nanoseconds: 0)
  private var reasonsDue = MonotonicTime(nanoseconds: 0)
  private var published: (incarnation: String, shut: [Int64], reasons: [String?])?
  /// The identifiers of the fleet that the host has plugins for.
  private(set) var identifiers: [TaskIdentifier] = []
  /// The mark of the fleet's pauses that the scheduler knows.
  private var pausesMark = ""
  /// Where the search for what plugins have cancelled at their launch goes on, and the first id that is not meant; nil if it does not.
  var launchCancels: (scan: RequestScan, end: RequestID)?
  /// When what waits here is looked at next.
  private var waitingDue = MonotonicTime(nanoseconds: 0)

  /// The conditions of this machine that are observed because ready requests require them.
  private var observed: Conditions = []

  /// How often the host has looked, while it leaves, since its runs are dead.
  var looksSinceDead = 0
  /// When and why the host looks at the database.
  var looks = FleetLooks()

  /// How often reasons are published at most, how often other reasons for the same lanes, and of how many lanes.
  private static let publishPause = Duration.seconds(2)
  private static let reasonsPause = Duration.seconds(10)
  private static let mostPublished = 200
  /// How long a request may be held here without beginning, before others may have it.
  private static let patience = Duration.seconds(2)
  /// How long a turn takes for changes, before it looks after runs.
  private static let errandsTime = Duration.milliseconds(200)
  /// How often the host gives back what it does not know, once an answer was lost.
  private static let clearingPause = Duration.seconds(30)

  init(_ agent: FleetAgent) {
    self.agent = agent
    writer = FleetWriter(agent)
    schedules = FleetSchedules(agent)
    progress = FleetProgress(agent)
    successes = FleetSuccesses(agent)
    stream = FleetStream(agent)
    care = FleetCare(agent)
  }

  func serve() {
    while true {
      var work = agent.takeWork()
      let submits = !work.arrivals.isEmpty
      var pause = Duration.zero
      do throws(FleetError) {
        pause = try turn(&work)
        failures = 0
        agent.set(failure: nil)
        if submits { agent.noteSubmissionsTaken() }
        if work.hasMore { agent.wake() }
      } catch {
        agent.putBack(work, error)
        writer.refuse(work.arrivals, error)
        // Those that have come meanwhile would wait as long for the same.
        let late = agent.takeChanges()
        for errand in work.errands + late.errands { errand.refuse(because: "\(error)") }
        for keeping in work.keepings + late.keepings { keeping.completion(FleetAgent.unkept("\(error)")) }
        if error != .fenced {
          if !work.arrivals.isEmpty { agent.noteSubmissions(refusedBecause: error) }
          forgetSession()
          failures += 1
          agent.set(failure: error)
        }
        pause = agent.place.pause(after: max(1, failures))
      }
      guard !work.isOver || work.hasMore && failures == 0 else { return leave() }
      guard pause > .zero else { continue }
      let began = SystemClock.now
      do throws(FleetError) {
        let isTold = try agent.wait(on: session, for: pause)
        if isTold {
          looks.told(after: SystemClock.now - began)
          lanes.told()
        }
      } catch { forgetSession() }
    }
  }

  private func forgetSession() {
    clearingDue = SystemClock.now + Self.clearingPause
    care.hurry()
    left = session?.left ?? left
    (session, cleared, looks, lanes, writer, pausesMark) = (nil, nil, FleetLooks(), FleetLanes(), FleetWriter(agent), "")
  }

  /// The host ends: what it holds goes to others at once.
  private func leave() {
    guard let session, let incarnation = agent.lease.incarnation else { return }
    // Before it sees the fence, and joins again.
    agent.lease.stop()
    do throws(FleetError) { _ = try session.fence(incarnation, because: "the host has ended") } catch {
      agent.log.notice("\(error); what the host held is ready again when its lease ends")
    }
  }

  // MARK: A turn

  /// - Parameter work: Loses what is done.
  /// - Returns: How long until the next turn, if nothing happens.
  private func turn(_ work: inout FleetAgent.Work) throws(FleetError) -> Duration {
    let session = try connected()
    noteIdentifiers()
    care.look(session)
    stream.look(session)
    if try findLaunchCancels(session), agent.state.withLock({ $0.unwanted.isEmpty }) { agent.parking.move(by: agent) }
    try writer.refuseExcess(&work.arrivals, session)
    let (known, isLeaving) = (agent.lease.incarnation, agent.lease.isLeaving)
    // Whether what has arrived may wait until the host knows what it wants.
    let mayWait = lanes.plain != nil && known != nil && cleared == known && work.errands.isEmpty && !work.isOver && !isLeaving
    let single = mayWait ? writer.single(of: work.arrivals) : nil
    if single == nil { try writer.add(&work.arrivals, session, counting: &work.added) }
    guard let incarnation = known else {
      if work.added > 0 { try session.notify() }
      for errand in work.errands { errand.refuse(because: "this host has no lease in its fleet") }
      for keeping in work.keepings { keeping.completion(FleetAgent.unkept("this host has no lease in its fleet")) }
      // What has ended belongs to others.
      agent.letGo(of: work.settled, fenced: work.settled.indices.map { work.settled[$0].request.record.id })
      (work.errands, work.keepings, work.settled) = ([], [], [])
      return FleetLooks.pause
    }
    if !work.isOver { try schedules.align(self, session, incarnation) }
    try keep(&work.keepings, session, incarnation)
    let end = work.isOver ? .distantFuture : SystemClock.now + Self.errandsTime
    while SystemClock.now < end, let errand = work.errands.popFirst() { try run(errand, session, incarnation) }
    agent.putBack(work.errands)
    work.errands = []
    try clear(session, incarnation, besides: work.settled)
    try cancelUnwanted(session, incarnation)
    try cancelSent(session, incarnation)
    if !work.isOver, isLeaving { return try giveUp(&work, session, incarnation) }
    try successes.look(session)
    if !work.isAsked, !work.mayHaveRoom, work.added == 0, single == nil, let rest = looks.rest { return rest }
    if lanes.plain == nil || lanes.lacksPlain { try findPlainLanes(session) }
    let takesNothing = work.isOver || agent.lease.isDraining
    if takesNothing { looks.opens(in: nil) }
    let wanted = takesNothing ? [] : demand(besides: work.settled)
    let draft = try draft(of: single, joining: wanted, session)
    // What the host does not want is for others: they need not wait for this host's look, nor this host look.
    let isForOthers = wanted.isEmpty
    if draft == nil { try writer.add(&work.arrivals, session, counting: &work.added, tells: isForOthers) }
    var added = work.added + (draft == nil ? 0 : 1)
    if added > 0, isForOthers {
      if single == nil { try session.notify() }
      added = 0
    }
    let isAsked = work.isAsked || added > 0 || work.mayHaveRoom && !wanted.isEmpty
    if !work.isOver { try publish(wanted, session, incarnation) }
    if !isAsked, let pause = looks.rest(wanting: Set(wanted.map(\.lane))) { return pause }
    let settled = try writer.settlements(&work.settled, incarnation, session)
    let asked = SystemClock.bootNanoseconds
    let exchange = try exchange(incarnation, settling: settled, adding: draft, wanting: wanted, &work, session)
    if let time = exchange.at { agent.lease.clock.note(time, asked: asked) }
    return try follow(exchange, wanting: wanted, settling: settled, added: added, &work, session, incarnation)
  }

  /// Does what a look has shown.
  ///
  /// - Parameter added: How many requests that are due soon were added, of which other hosts do not know.
  /// - Returns: How long until the next turn, if nothing happens.
  private func follow(
    _ exchange: FleetExchange, wanting wanted: [FleetDemand], settling settled: [SettledRequest], added: Int, _ work: inout FleetAgent.Work,
    _ session: FleetSession, _ incarnation: String
  ) throws(FleetError) -> Duration {
    if let pauses = exchange.pauses {
      pausesMark = pauses.mark
      agent.scheduler.set(ofFleet: pauses.pauses, of: Set(identifiers))
    }
    let areNew = lanes.note(exchange)
    agent.letGo(of: work.settled, fenced: exchange.fenced)
    work.settled = []
    // The host may own some by a later claim, of which it does not know.
    if !exchange.fenced.isEmpty { cleared = nil }
    let refused = take(exchange.claimed, cancelled: Set(exchange.cancelled), incarnation)
    // What has been claimed observes its own by now, without a gap.
    observeConditions(of: lanes.found.filter { !$0.lane.gates.conditions.isEmpty })
    if let named = exchange.added { writer.answer(&work.arrivals, named) }
    agent.cancel(exchange.cancelled)
    // Their runs had ended, or their hosts were lost, before those knew of it.
    for id in agent.notHeld(exchange.cancelled) { try run(FleetErrand(untold: [id]) { _ in .cancel(id) }, session, incarnation) }
    if !exchange.late.isEmpty { try run(FleetErrand(untold: exchange.late) { .relax($0) }, session, incarnation) }
    let undecided = exchange.undecided.filter(agent.mayRead)
    if !undecided.isEmpty {
      var errand = FleetErrand(untold: undecided) { .decide($0) }
      errand.decides = true
      try run(errand, session, incarnation)
    }
    for (request, event) in exchange.unheard where agent.mayRead(request) {
      try run(
        FleetErrand(untold: [request], hearing: .only(event)) { .wake($0, by: event.name, payload: event.payload) }, session, incarnation)
    }
    giveBackWhatWaits(incarnation)
    let isMore = Self.mayHaveMore(exchange.claimed, of: wanted)
    if Int64(added) + exchange.promoted > Int64(exchange.claimed.count) || FleetWriter.leavesRoom(settled) { try session.notify() }
    let lanesWanted = Set(wanted.map(\.lane))
    // What the host wants may be more by now.
    if areNew || exchange.pauses != nil { return looks.looked(wanting: lanesWanted, next: .zero) }
    if isMore, refused > 0 { return looks.looked(wanting: lanesWanted, next: .milliseconds(100)) }
    let areShown = isMore ? false : try progress.publish(session, incarnation)
    let pause = pause(after: exchange, wanting: wanted, areRunsShown: areShown)
    return looks.looked(wanting: lanesWanted, next: pause, leftSome: isMore)
  }

  /// Gives back what the host does not know to be its own, once for each connection and incarnation, and again and again where that is not enough.
  /// If the database does not know of what the host holds, it may be that of a standby that had not all, or of a backup: others may have it by now.
  ///
  /// - Parameter ended: What has ended: that may be recorded already, and the answer was lost.
  private func clear(_ session: FleetSession, _ incarnation: String, besides ended: [FleetAgent.Ended]) throws(FleetError) {
    guard cleared != incarnation || clearingDue.map({ SystemClock.now >= $0 }) == true else { return }
    if clearingDue != nil { clearingDue = SystemClock.now + Self.clearingPause }
    try session.recogniseServer()
    let claims = agent.claims(as: incarnation)
    _ = try session.giveBackUnknown(incarnation, besides: claims.map(\.id))
    let unowned = agent.stillHeld(try session.unowned(incarnation, claims), besides: ended)
    if let first = unowned.min() {
      agent.lease.giveUp(incarnation, because: "the database did not know what it held") {
        $0.error(
          """
          the fleet's database does not know that this host holds \(first)\(unowned.count > 1 ? " and \(unowned.count - 1) others" : ""): \
          others may have that, so the host's runs of the fleet are stopped. A standby that had not all may have been promoted
          """)
      }
    }
    cleared = incarnation
  }

  /// A single request as it is added with the claims of the host; nil if the host does not want it, or its claims may wait for other hosts.
  private func draft(
    of single: FleetSubmission?, joining wanted: [FleetDemand], _ session: FleetSession
  ) throws(FleetError) -> FleetDraft? {
    guard let single, !wanted.isEmpty, !wanted.contains(where: \.isLimited) else { return nil }
    let lane: Int64
    do throws(FleetError) { lane = try writer.numbers.id(of: single.record.lane, session) } catch {
      switch error {
      // Adding it alone says so to who submitted it.
      case .locked:
        writer.noteLocked([single])
        return nil
      case .unfit: return nil
      default: throw error
      }
    }
    let draft = FleetDraft(record: single.record, lane: lane)
    return wanted.contains { $0.lane == draft.lane } ? draft : nil
  }

  private func exchange(
    _ incarnation: String, settling settled: [SettledRequest], adding draft: FleetDraft?, wanting wanted: [FleetDemand],
    _ work: inout FleetAgent.Work, _ session: FleetSession
  ) throws(FleetError) -> FleetExchange {
    let watched = work.isOver ? [] : lanes.watched
    let search = lanes.search(wanted)
    func exchange(adding draft: FleetDraft?) throws(FleetError) -> FleetExchange {
      try session.exchange(
        incarnation, settling: settled, adding: draft, wanting: wanted, watching: watched, searching: search, pauses: pausesMark)
    }
    guard let draft else { return try exchange(adding: nil) }
    do throws(FleetError) { return try exchange(adding: draft) } catch {
      switch error {
      // A submission does not need the lease. If the database cannot hold the request, adding it alone says so.
      case .fenced, .unfit: try writer.add(&work.arrivals, session, counting: &work.added)
      default: throw error
      }
      return try exchange(adding: nil)
    }
  }

  /// How long until something may have changed of which nobody tells the host.
  private func pause(after exchange: FleetExchange, wanting wanted: [FleetDemand], areRunsShown: Bool) -> Duration {
    var pauses = [stream.isRead ? FleetStream.pause : looks.longestPause(members: agent.lease.members, isIdle: !agent.holdsAny)]
    if areRunsShown { pauses.append(FleetProgress.pause) }
    // A rate may allow more before anything happens.
    for rate in wanted.flatMap({ [$0.rate, $0.ratePerKey] }) {
      if let rate { pauses.append(max(.milliseconds(100), rate.period / rate.count)) }
    }
    if let due = exchange.nextDue { pauses.append(due + .milliseconds(1)) }
    if let rest = lanes.rest { pauses.append(rest) }
    if exchange.mayHaveMoreUnheard { pauses.append(.milliseconds(20)) }
    return pauses.min() ?? .zero
  }

  /// What is ready and requires conditions lets them be observed: a host that does not know whether they hold takes nothing.
  private func observeConditions(of waiting: [FleetLane]) {
    let needed = waiting.reduce(into: Conditions()) { $0.formUnion($1.lane.gates.conditions) }
    guard needed != observed else { return }
    observed = needed
    agent.scheduler.observeForFleet(needed) { [weak agent] in agent?.wake() }
  }

  /// A reload may have brought plugins, or taken some away.
  private func noteIdentifiers() {
    let now = agent.lease.identifiers
    guard now != identifiers else { return }
    (identifiers, lanes, looks, pausesMark) = (now, FleetLanes(), FleetLooks(), "")
  }

  private func connected() throws(FleetError) -> FleetSession {
    if let session { return session }
    let asked = SystemClock.bootNanoseconds
    let new = try agent.place.connect(left: left)
    // It may be another server than before.
    if let time = new.began { agent.lease.clock.note(time, asked: asked) }
    try new.listen()
    (session, left) = (new, nil)
    // A pool keeps its connection to the host while it changes the server behind it.
    if !new.isAlone, clearingDue == nil { clearingDue = SystemClock.now + Self.clearingPause }
    return new
  }

  /// Tells people at other hosts of which lanes this one takes nothing now, and why.
  private func publish(_ wanted: [FleetDemand], _ session: FleetSession, _ incarnation: String) throws(FleetError) {
    guard SystemClock.now >= publishDue else { return }
    let taken = Set(wanted.map(\.lane))
    let shut = Array(lanes.all.lazy.filter { !taken.contains($0.id) }.prefix(Self.mostPublished))
    let areOthers = published.map { $0.incarnation != incarnation || $0.shut != shut.map(\.id) } != false
    guard areOthers || !shut.isEmpty && SystemClock.now >= reasonsDue else { return }
    var reasons: [String?] = []
    if !shut.isEmpty {
      let answer = Awaited<[String?]>()
      agent.scheduler.obstacles(for: shut.map(\.lane)) { answer.set($0) }
      reasons = answer.wait()
    }
    publishDue = SystemClock.now + Self.publishPause
    reasonsDue = SystemClock.now + Self.reasonsPause
    guard areOthers || published?.reasons != reasons else { return }
    let closed = zip(shut, reasons).compactMap { lane, reason in reason.map { (lane: lane.id, reason: $0) } }
    try session.publish(incarnation, closed: closed)
    published = (incarnation, shut.map(\.id), reasons)
  }

  /// What has not begun for a while is for others: a gate may have closed.
  private func giveBackWhatWaits(_ incarnation: String) {
    guard SystemClock.now >= waitingDue else { return }
    waitingDue = SystemClock.now + Self.patience
    let old = agent.held(as: incarnation, before: SystemClock.now + (.zero - Self.patience))
    guard !old.isEmpty else { return }
    agent.scheduler.giveBack(old) { _ in }
  }
}
