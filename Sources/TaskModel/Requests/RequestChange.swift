/// What an event of a run changes in its request, as ``RequestState/transition(on:guards:)`` says, for a store that does not read the row.
///
/// The request must be in the state that the change starts from, and have the run that it is about. Only requests that do not repeat end this
/// way.
public struct RequestChange: Sendable, Hashable {
  /// The state that the request must be in.
  public let from: RequestState
  /// The run that the request must have; nil for a request that has none yet.
  public let expectedRun: RunID?
  /// The new state, and the effect on the counts. The due time stays.
  public let transition: RequestTransition
  /// Its run from now on, while it is claimed or running.
  public let run: RunID?
  /// When its run started; nil leaves it unchanged.
  public let started: WallTime?
  /// How its run ended; nil if it has not.
  public let end: End?

  /// How a run ended.
  public struct End: Sendable, Hashable {
    /// The outcome.
    public let outcome: RunOutcome
    /// Its message.
    public let message: String?
    /// When.
    public let time: WallTime
  }

  /// A pending request is handed out before `run` begins.
  public static func claimed(by run: RunID) throws(IllegalTransition) -> RequestChange {
    let transition = try RequestState.pending.transition(on: .claimed)
    return RequestChange(from: .pending, expectedRun: nil, transition: transition, run: run, started: nil, end: nil)
  }

  /// `run` begins.
  ///
  /// - Parameter state: Whether the request is pending, or claimed for that run.
  public static func started(_ run: RunID, from state: RequestState, at time: WallTime) throws(IllegalTransition) -> RequestChange {
    let transition = try state.transition(on: .started)
    return RequestChange(
      from: state, expectedRun: state == .claimed ? run : nil, transition: transition, run: run, started: time, end: nil)
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
    let transition = try running.transition(on: .ended(outcome))
    guard transition.state.isFinal else { throw IllegalTransition(state: state, event: .ended(outcome)) }
    return RequestChange(
      from: state, expectedRun: run, transition: transition, run: nil, started: began,
      end: End(outcome: outcome, message: message, time: time))
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
    guard let end = change.end else { return }
    (ended, lastOutcome, lastMessage) = (end.time, end.outcome, end.message)
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
