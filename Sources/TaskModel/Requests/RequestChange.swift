/// What an event of a run changes in its request, as ``RequestState/transition(on:guards:)`` says, for a store that does not read the row.
///
/// The request must be in the state that the change starts from, and have the run that it is about. Only requests that do not repeat end this
/// way.
public struct RequestChange: Sendable, Hashable {
  /// The state that the request must be in.
  public let from: RequestState
  /// The run that the request must have; nil for a request that has none yet.
  public private(set) var expectedRun: RunID?
  /// The new state, and the effect on the counts. The due time stays.
  public let transition: RequestTransition
  /// Its run from now on, while it is claimed or running.
  public private(set) var run: RunID?
  /// When its run started; nil leaves it unchanged.
  public private(set) var started: WallTime?
  /// When its run ended; nil if it has not, and then nothing of its last run changes.
  public private(set) var ended: WallTime?
  /// How it ended.
  public private(set) var outcome: RunOutcome?
  /// The message with which it ended.
  public private(set) var message: String?

  private init(from state: RequestState, _ transition: RequestTransition) {
    from = state
    self.transition = transition
  }

  /// A pending request is handed out before `run` begins.
  public static func claimed(by run: RunID) throws(IllegalTransition) -> RequestChange {
    var change = RequestChange(from: .pending, try RequestState.pending.transition(on: .claimed))
    change.run = run
    return change
  }

  /// `run` begins.
  ///
  /// - Parameter state: Whether the request is pending, or claimed for that run.
  public static func started(_ run: RunID, from state: RequestState, at time: WallTime) throws(IllegalTransition) -> RequestChange {
    var change = RequestChange(from: state, try state.transition(on: .started))
    change.expectedRun = state == .claimed ? run : nil
    (change.run, change.started) = (run, time)
    return change
  }

  /// `run` ends, and the request with it.
  ///
  /// - Parameter began: When the run began, if the request is claimed and the begin is not recorded yet. Nil if it is running.
  /// - Throws: Also for an outcome that leaves the request pending, since its row decides when it is due.
  public static func ended(
    _ run: RunID, _ outcome: RunOutcome, message: String?, began: WallTime?, at time: WallTime
  ) throws(IllegalTransition) -> RequestChange {
    let state: RequestState = began == nil ? .running : .claimed
    let running = began == nil ? state : try state.transition(on: .started).state
    var change = RequestChange(from: state, try running.transition(on: .ended(outcome)))
    guard change.transition.state.isFinal else { throw IllegalTransition(state: state, event: .ended(outcome)) }
    (change.expectedRun, change.started) = (run, began)
    (change.ended, change.outcome, change.message) = (time, outcome, message)
    return change
  }
}

extension RequestRecord {
  /// Applies an event: the state and the counts become what ``RequestState/transition(on:guards:)`` says.
  ///
  /// - Returns: The transition, which also says when the request is due.
  @discardableResult
  public mutating func apply(
    _ event: RequestEvent, guards: RequestGuards = RequestGuards()
  ) throws(IllegalTransition) -> RequestTransition {
    let transition = try state.transition(on: event, guards: guards)
    take(transition)
    if state != .blocked { blockedBy = nil }
    if state != .claimed, state != .running { run = nil }
    return transition
  }

  /// Applies a change. Throws ``StoreError/fenced`` if the request is in another state, or has another run.
  public mutating func apply(_ change: RequestChange) throws(StoreError) {
    guard state == change.from, change.expectedRun == nil || run == change.expectedRun else { throw .fenced }
    take(change.transition)
    run = change.run
    started = change.started ?? started
    guard change.ended != nil else { return }
    (ended, lastOutcome, lastMessage) = (change.ended, change.outcome, change.message)
  }

  private mutating func take(_ transition: RequestTransition) {
    state = transition.state
    transition.attempts.apply(to: &attemptsSpent)
    transition.losses.apply(to: &losses)
  }
}

extension RequestTransition.Count {
  fileprivate func apply(to count: inout Int) {
    switch self {
    case .keep: break
    case .add: count = count.adding(saturating: 1)
    case .reset: count = 0
    }
  }
}
