import TaskModel

/// What the scheduler keeps about one handler. All of it can be rebuilt from the store and the launcher.
final class HandlerState {
  /// When the next pending request is due, as far as it is known.
  enum NextDue {
    /// The store must be asked.
    case unknown
    /// None is pending.
    case never
    /// Then; or earlier, never later.
    case at(WallTime)

    /// Not before then; nil: none is pending.
    var earliest: WallTime? {
      switch self {
      case .unknown: WallTime(unixMilliseconds: 0)
      case .never: nil
      case .at(let time): time
      }
    }
  }

  var contract: HandlerContract
  /// Runs that the launcher has, those included that were started ahead.
  private(set) var running = 0
  /// Why it takes no runs now.
  var suspension: String?
  /// It is given no runs before then, because of its standing; nil: now.
  var heldUntil: WallTime?
  var nextDue = NextDue.unknown
  /// How many live requests it has; nil: the store must be asked.
  var liveRequests: Int?

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

  /// A run is given to the launcher.
  func runBegan() { running += 1 }

  /// A run has ended; `took` is the time of the handler's call, nil where it is not known.
  func runEnded(took: Duration?) {
    running -= 1
    guard let took = took?.wholeNanoseconds else { return }
    // A run that is long for once ends the short ones' privilege at once; it is earned again over some runs.
    typicalRun = typicalRun.map { took > Self.shortRun ? took : ($0 * 7 + took) / 8 } ?? took
  }

  /// A request became pending, due at `time`.
  func becamePending(due time: WallTime) {
    switch nextDue {
    case .unknown: break
    case .never: nextDue = .at(time)
    case .at(let known): if time < known { nextDue = .at(time) }
    }
  }
}
