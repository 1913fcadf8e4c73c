import TaskModel

/// What the scheduler remembers about one handler. The store and the launcher can rebuild all of it.
final class HandlerState {
  var contract: HandlerContract
  /// Runs that have begun.
  private(set) var running = 0
  /// Further runs in the launcher's queue: each begins when an earlier one has ended.
  private(set) var queued = 0
  /// Runs that wait in the scheduler for a begin time in the near future.
  private(set) var held = 0
  /// Queued runs that the launcher was asked to return: until it answers, the handler gets no runs.
  private(set) var askedBack = 0
  /// Whether nothing is handed out ahead, because a change waits for requests to come back.
  var keepsHere = false
  /// Why it accepts no runs now; nil if it accepts them.
  var suspension: String?
  /// nil if not known.
  var suspendedSince: WallTime?
  /// What the host lacks to run it; nil if nothing.
  var shortage: HostShortage?
  /// When the last pause of all its lanes ends: `distantFuture` if only by hand; nil if none shuts them.
  var pausedUntil: WallTime?
  /// The time before which its health keeps it from getting runs; nil if it is not held.
  var heldUntil: WallTime?
  /// Its pending requests, by their gates.
  private(set) var lanes: [RunConstraints: LaneState] = [:]

  let agenda: Agenda
  private var recentLane: LaneState?

  /// What tells its tenants apart; nil if it is not shared fairly.
  let fairBy: FairBy?
  /// What its tenants owe each other; nil if it is not shared fairly.
  var shares: FairShares?

  init(contract: HandlerContract, agenda: Agenda, fairBy: FairBy? = nil) {
    self.contract = contract
    self.agenda = agenda
    self.fairBy = fairBy
    shares = fairBy.map { _ in FairShares() }
  }

  /// How long its recent runs took, in nanoseconds; nil if not known.
  private var typicalRun: Int64?
  /// When its queue last advanced.
  private var movedAt = WallTime(unixMilliseconds: .min)
  /// Whether a run at the front of its queue turned out to be long, and no run has ended since.
  private var isStuck = false
  /// The maximum number of runs ahead; it shrinks whenever the queue is taken back for runs with a better rank.
  private var allowance = mostAhead
  /// The worst rank in its queue.
  private(set) var worstRank = Int64.min

  /// How many more runs it has room for, regardless of its health.
  var freeSlots: Int { suspension == nil && askedBack == 0 ? max(0, contract.maxConcurrentRuns - running - queued) : 0 }

  func isHeld(at now: WallTime) -> Bool { heldUntil.map { now < $0 } ?? false }

  /// The host slots it occupies: queued runs use the slots of the runs before them.
  var occupiedSlots: Int { min(running + queued, contract.maxConcurrentRuns) }

  /// How many more runs it may get beyond its slots.
  ///
  /// A handler whose runs are shorter than a commit would wait for a commit after each run. So it gets as many runs ahead as its threads
  /// finish during a few commits; these are recorded as claimed and begin when a thread is free. The maximum is 240: while one half runs,
  /// the other half is committed. Handlers that take 2 ms or more get none.
  var slotsAhead: Int { max(0, ahead - max(0, running + queued - contract.maxConcurrentRuns)) }

  /// How many runs it may have beyond its slots, those that it has included.
  var ahead: Int {
    guard suspension == nil, askedBack == 0, !keepsHere, !isStuck, let typicalRun, typicalRun < Self.shortRun else { return 0 }
    return min(allowance, Int(Self.shortRun / max(1, typicalRun)) * contract.maxConcurrentRuns)
  }

  /// How many runs could begin within a time beyond those that it has, if these take as long as its recent ones.
  func begins(within time: Duration) -> Int {
    guard suspension == nil, !isStuck, let typicalRun else { return 0 }
    return Int(time.wholeNanoseconds / max(1, typicalRun)).multiplied(saturatingBy: contract.maxConcurrentRuns)
  }

  private static let shortRun: Int64 = 2_000_000
  private static let mostAhead = 240
  /// How long a queue may stand still: ten times the limit of a short run.
  static let patience = Duration.milliseconds(20)

  /// When its latest run since the host started began; nil if none has.
  private(set) var lastBegan: WallTime?

  /// Continues another handler of the identifier, after all of its runs that were handed out ahead have come back. Its lanes are to be found
  /// anew.
  ///
  /// - Parameters:
  ///   - before: Nil if the identifier had none.
  ///   - running: Its live runs.
  convenience init(contract: HandlerContract, agenda: Agenda, fairBy: FairBy?, after before: HandlerState?, running: Int) {
    self.init(contract: contract, agenda: agenda, fairBy: fairBy)
    self.running = running
    guard let before else { return }
    (suspension, suspendedSince, shortage) = (before.suspension, before.suspendedSince, before.shortage)
    (typicalRun, movedAt, isStuck, allowance, lastBegan) =
      (before.typicalRun, before.movedAt, before.isStuck, before.allowance, before.lastBegan)
    if fairBy == before.fairBy { shares = before.shares }
  }

  // MARK: Its runs

  func runBegan(at time: WallTime) {
    running += 1
    lastBegan = max(lastBegan ?? time, time)
  }

  /// - Parameter took: The duration of the handler's call; nil if not known.
  func runEnded(took: Duration?, now: WallTime) {
    running -= 1
    movedAt = now
    isStuck = false
    allowance = min(allowance + 1, Self.mostAhead)
    guard let took = took?.wholeNanoseconds else { return }
    // One long run ends the advantage of short runs at once; the handler regains it over several runs.
    typicalRun = typicalRun.map { took > Self.shortRun ? took : $0.multiplied(saturatingBy: 7).adding(saturating: took) / 8 } ?? took
  }

  /// Corrects the number of running runs.
  func recount(by step: Int) { running += step }

  // MARK: Runs handed out ahead

  func claimed(_ claim: Claim, now: WallTime) {
    guard !claim.isHeld else { return held += 1 }
    if queued == 0 {
      movedAt = now
      worstRank = claim.rank
    }
    queued += 1
    worstRank = max(worstRank, claim.rank)
    if claim.isAskedBack { askedBack += 1 }
  }

  /// A claim has begun, or was taken back.
  func unclaimed(_ claim: Claim, now: WallTime) {
    guard !claim.isHeld else { return held -= 1 }
    queued -= 1
    if claim.isAskedBack { askedBack -= 1 } else { movedAt = now }
  }

  /// Counts queued runs that the launcher was asked to return; −1 undoes one.
  func isAsked(by step: Int) { askedBack += step }

  /// The queue was taken back for runs with a better rank.
  func gaveWay() { allowance = max(4, allowance / 2) }

  /// When its queue will have stood still for too long; nil if every queued run has been asked back.
  var stuckAt: WallTime? { queued > askedBack ? movedAt + Self.patience : nil }

  /// The run at the front turned out to be long: nothing more is handed out ahead until a run ends.
  func isStuckNow() { isStuck = true }

  // MARK: Where its requests wait

  /// The lane with these gates, created on demand.
  func lane(_ gates: RunConstraints) -> LaneState {
    // Consecutive requests mostly have the same gates, and comparing them is cheaper than a lookup.
    if let recentLane, recentLane.gates == gates { return recentLane }
    if let lane = lanes[gates] {
      recentLane = lane
      return lane
    }
    // Concurrency keys come and go: forget lanes without pending requests.
    if lanes.count >= Self.fewLanes { lanes = lanes.filter { if case .never = $0.value.nextDue { false } else { true } } }
    let lane = LaneState(gates: gates, of: self)
    lanes[gates] = lane
    recentLane = lane
    if !gates.conditions.isEmpty { agenda.noteConditioned(lane) }
    agenda.changed(lane)
    return lane
  }

  private static let fewLanes = 1024

  func becamePending(_ record: RequestRecord) { lane(record.gates).becamePending(due: record.due) }

  /// Forgets the due time of the record's lane, which may be wrong now.
  func forgetDue(of record: RequestRecord) { lane(record.gates).nextDue = .unknown }

  /// Forgets all due times, which may be wrong now.
  func forgetAll() {
    for lane in lanes.values { lane.nextDue = .unknown }
  }
}
