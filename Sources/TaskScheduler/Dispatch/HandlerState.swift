import TaskModel

/// What the scheduler keeps about one handler. All of it can be rebuilt from the store and the launcher.
final class HandlerState {
  var contract: HandlerContract
  /// Runs that have begun.
  private(set) var running = 0
  /// Runs that the launcher has beyond them: each begins when one before it has ended.
  private(set) var queued = 0
  /// Runs that begin at a time to come, which is near.
  private(set) var held = 0
  /// Those of the queued ones that the launcher was asked for: until it has answered, the handler is given nothing.
  private(set) var askedBack = 0
  /// Whether nothing is handed out ahead, since a change waits for its requests or those of another.
  var keepsHere = false
  /// Why it takes no runs now.
  var suspension: String?
  /// Since when; nil: that is not known.
  var suspendedSince: WallTime?
  /// What the host lacks to run it; nil: nothing.
  var shortage: HostShortage?
  /// It is given no runs before then, because of its health; nil: now.
  var heldUntil: WallTime?
  /// Where its pending requests wait, by their gates.
  private(set) var lanes: [RunConstraints: LaneState] = [:]

  init(contract: HandlerContract) { self.contract = contract }

  /// How long its runs take of late, in nanoseconds; nil: not known.
  private var typicalRun: Int64?
  /// When its queue last moved.
  private var movedAt = WallTime(unixMilliseconds: .min)
  /// A run turned long in front of its queue, and none has ended since.
  private var isStuck = false
  /// How many runs it may have ahead at most, by how often they had to be taken back for better ones.
  private var allowance = mostAhead
  /// No queued run has a worse place.
  private(set) var worstRank = Int64.min

  /// How many more runs it allows, were it not held back.
  var freeSlots: Int { suspension == nil && askedBack == 0 ? max(0, contract.maxConcurrentRuns - running - queued) : 0 }

  /// Whether it is given no runs at `now`, because of its health.
  func isHeld(at now: WallTime) -> Bool { heldUntil.map { now < $0 } ?? false }

  /// How many slots of the host it takes: queued runs take those of the runs before them.
  var occupiedSlots: Int { min(running + queued, contract.maxConcurrentRuns) }

  /// How many more runs it may be given beyond its slots.
  ///
  /// A handler that takes less time than a commit would wait for one after each run. It is given as many runs ahead as its threads get
  /// through in about the time of some commits; they are recorded as claimed, and each begins when a thread is free. Never more than 240:
  /// while one half of them is run, the other half is committed. None for handlers that take 2 ms and more.
  var slotsAhead: Int {
    guard suspension == nil, askedBack == 0, !keepsHere, !isStuck, let typicalRun, typicalRun < Self.shortRun else { return 0 }
    let ahead = min(allowance, Int(Self.shortRun / max(1, typicalRun)) * contract.maxConcurrentRuns)
    return max(0, ahead - max(0, running + queued - contract.maxConcurrentRuns))
  }

  private static let shortRun: Int64 = 2_000_000
  private static let mostAhead = 240
  /// How long a queue may stand still: ten times what is in it should take.
  static let patience = Duration.milliseconds(20)

  /// When the last of its runs began, since the host was launched; nil: none has.
  private(set) var lastBegan: WallTime?

  // MARK: Its runs

  /// A run begins.
  func runBegan(at time: WallTime) {
    running += 1
    lastBegan = max(lastBegan ?? time, time)
  }

  /// A run has ended; `took` is the time of the handler's call, nil where it is not known.
  func runEnded(took: Duration?, now: WallTime) {
    running -= 1
    movedAt = now
    isStuck = false
    allowance = min(allowance + 1, Self.mostAhead)
    guard let took = took?.wholeNanoseconds else { return }
    // A run that is long for once ends the short ones' privilege at once; it is earned again over some runs.
    typicalRun = typicalRun.map { took > Self.shortRun ? took : $0.multiplied(saturatingBy: 7).adding(saturating: took) / 8 } ?? took
  }

  /// A run that was counted is not there, or is again.
  func recount(by step: Int) { running += step }

  // MARK: What is handed out ahead

  /// A request is handed out ahead, or is again.
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

  /// It has begun, or is taken back.
  func unclaimed(_ claim: Claim, now: WallTime) {
    guard !claim.isHeld else { return held -= 1 }
    queued -= 1
    if claim.isAskedBack { askedBack -= 1 } else { movedAt = now }
  }

  /// The launcher was asked for a queued run; or with −1 it was not.
  func isAsked(by step: Int) { askedBack += step }

  /// Better ones came, and the queue was taken back for them.
  func gaveWay() { allowance = max(4, allowance / 2) }

  /// When its queue has stood still for too long; nil: nothing is in it that the launcher was not asked for.
  var stuckAt: WallTime? { queued > askedBack ? movedAt + Self.patience : nil }

  /// The run in front of its queue has turned long: nothing more is given ahead until a run has ended.
  func isStuckNow() { isStuck = true }

  // MARK: Where its requests wait

  /// The lane with these gates, made if it is not there.
  func lane(_ gates: RunConstraints) -> LaneState {
    if let lane = lanes[gates] { return lane }
    // Keys come and go: lanes in which nobody waits are forgotten.
    if lanes.count >= Self.fewLanes { lanes = lanes.filter { if case .never = $0.value.nextDue { false } else { true } } }
    let lane = LaneState(gates: gates)
    lanes[gates] = lane
    return lane
  }

  private static let fewLanes = 1024

  /// A request became pending.
  func becamePending(_ record: RequestRecord) { lane(record.gates).becamePending(due: record.due) }

  /// What is remembered of the lane's requests may be wrong.
  func forgetDue(of record: RequestRecord) { lane(record.gates).nextDue = .unknown }

  /// What is remembered of its requests may be wrong.
  func forgetAll() {
    for lane in lanes.values { lane.nextDue = .unknown }
  }
}
