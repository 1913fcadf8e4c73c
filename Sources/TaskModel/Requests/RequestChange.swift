/// The change that an event of a run makes in its request, as ``RequestState/transition(on:guards:)`` says. A store applies it without
/// reading the row.
///
/// The request must be in the state that the change starts from, and have the expected run. Only requests that do not repeat end this way.
public struct RequestChange: Sendable, Hashable {
  /// The state that the request must be in.
  public let from: RequestState
  /// The run that the request must have; nil for a request that has none yet.
  public private(set) var expectedRun: RunID?
  /// The new state and the effect on the counts. The due time does not change.
  public let transition: RequestTransition
  /// The request's run after the change, while it is claimed or running.
  public private(set) var run: RunID?
  /// When the run started; nil leaves the stored time unchanged.
  public private(set) var started: WallTime?
  /// When the run ended. Nil if it has not ended; then nothing about the last run changes.
  public private(set) var ended: WallTime?
  /// How the run ended.
  public private(set) var outcome: RunOutcome?
  /// The message of the ended run.
  public private(set) var message: String?

  private init(from state: RequestState, _ transition: RequestTransition) {
    from = state
    self.transition = transition
  }

  /// `run` claims a pending request before the run starts.
  public static func claimed(by run: RunID) throws(IllegalTransition) -> RequestChange {
    var change = RequestChange(from: .pending, try RequestState.pending.transition(on: .claimed))
    change.run = run
    return change
  }

  /// `run` starts.
  ///
  /// - Parameter state: `.pending`, or `.claimed` if the request is claimed for that run.
  public static func started(_ run: RunID, from state: RequestState, at time: WallTime) throws(IllegalTransition) -> RequestChange {
    var change = RequestChange(from: state, try state.transition(on: .started))
    change.expectedRun = state == .claimed ? run : nil
    (change.run, change.started) = (run, time)
    return change
  }

  /// `run` ends, and the request with it.
  ///
  /// - Parameter began: When the run started, if the request is claimed and the start is not recorded yet. Nil if the request is running.
  /// - Throws: ``IllegalTransition``, also for an outcome that leaves the request pending, because its due time depends on the row.
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
  /// Applies an event: sets the state and the counts to what ``RequestState/transition(on:guards:)`` says.
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
