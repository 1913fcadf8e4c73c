import TaskModel

/// What the scheduler keeps about one handler. All of it can be rebuilt from the store and the launcher.
final class HandlerState {
  var contract: HandlerContract
  /// Runs that the launcher has, those included that were started ahead.
  private(set) var running = 0
  /// Why it takes no runs now.
  var suspension: String?
  /// It is given no runs before then, because of its standing; nil: now.
  var heldUntil: WallTime?
  /// Where its pending requests wait, by their gates.
  private(set) var lanes: [LaneGates: LaneState] = [:]

  init(contract: HandlerContract) { self.contract = contract }

  /// How long its runs take of late, in nanoseconds; nil: not known.
  private var typicalRun: Int64?

  /// How many more runs it allows, were it not held back.
  var freeSlots: Int { suspension == nil ? max(0, contract.maxConcurrentRuns - running) : 0 }

  /// Whether it is given no runs at `now`, because of its standing.
  func isHeld(at now: WallTime) -> Bool { heldUntil.map { now < $0 } ?? false }

  /// How many slots of the host it takes.
  var occupiedSlots: Int { min(running, contract.maxConcurrentRuns) }

  /// How many more runs it may be given beyond its slots.
  ///
  /// A handler that takes less time than a commit would wait for one after each run. It is given as many runs ahead as its threads get
  /// through in about the time of some commits; they are recorded as started with the others, and each begins when a thread is free. Never
  /// more than 112: while one half of them is run, the other half is committed. None for handlers that take 2 ms and more.
  var slotsAhead: Int {
    guard suspension == nil, let typicalRun, typicalRun < Self.shortRun else { return 0 }
    let ahead = min(112, Int(Self.shortRun / max(1, typicalRun)) * contract.maxConcurrentRuns)
    return max(0, ahead - max(0, running - contract.maxConcurrentRuns))
  }

  private static let shortRun: Int64 = 2_000_000

  /// When the last of its runs began, since the host was launched; nil: none has.
  private(set) var lastBegan: WallTime?

  /// A run is given to the launcher.
  func runBegan(at time: WallTime) {
    running += 1
    lastBegan = max(lastBegan ?? time, time)
  }

  /// A run has ended; `took` is the time of the handler's call, nil where it is not known.
  func runEnded(took: Duration?) {
    running -= 1
    guard let took = took?.wholeNanoseconds else { return }
    // A run that is long for once ends the short ones' privilege at once; it is earned again over some runs.
    typicalRun = typicalRun.map { took > Self.shortRun ? took : ($0 * 7 + took) / 8 } ?? took
  }

  /// The lane with these gates, made if it is not there.
  func lane(_ gates: LaneGates) -> LaneState {
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
