/// The stored state of a task request.
public enum RequestState: String, Sendable, CaseIterable {
  /// Waits for another request to end.
  case blocked
  /// Waits for its time and its turn.
  case pending
  /// Pending, and handed out ahead of its run's begin, from where it can be taken back; shown as pending.
  case claimed
  /// A handler works on it.
  case running
  /// Ended well.
  case succeeded
  /// Ended for good without success: a dead letter.
  case failed
  /// Ended because somebody wished so.
  case cancelled

  /// The state that people and plugins are told: what is handed out ahead is pending to them.
  public var shown: RequestState { self == .claimed ? .pending : self }

  /// Whether it has ended.
  public var isFinal: Bool {
    switch self {
    case .succeeded, .failed, .cancelled: true
    case .blocked, .pending, .claimed, .running: false
    }
  }
}

/// What may happen to a request.
public enum RequestEvent: Sendable, Hashable {
  /// What it waited for has ended.
  case unblocked
  /// It is handed out ahead of its run's begin.
  case claimed
  /// It is taken back: its run has not begun, and does not.
  case released
  /// Its run begins.
  case started
  /// Its run ended.
  case ended(RunOutcome)
  /// Somebody wishes it away, or a newer request takes its place.
  case cancelled
  /// A request that had to succeed first has failed.
  case predecessorFailed
  /// An operator revives a dead letter.
  case revived
  /// An operator gives a dead letter up.
  case discarded
  /// A dead letter is revived together with what it failed because of, and waits for that again.
  case redriven
}

/// What a transition depends on besides state and event.
public struct RequestGuards: Sendable, Hashable {
  /// Whether another attempt is allowed after one more is spent.
  public var attemptsLeft: Bool
  /// Whether another loss in a row is allowed.
  public var lossesLeft: Bool
  /// Whether it has occurrences to come.
  public var repeating: Bool

  /// The guards as given.
  public init(attemptsLeft: Bool = true, lossesLeft: Bool = true, repeating: Bool = false) {
    self.attemptsLeft = attemptsLeft
    self.lossesLeft = lossesLeft
    self.repeating = repeating
  }
}

/// Where an event leads and what goes with it.
public struct RequestTransition: Sendable, Hashable {
  /// When a request that is pending again is due.
  public enum Due: Sendable, Hashable {
    /// As it was.
    case unchanged
    /// At once.
    case now
    /// After the retry policy's backoff, or the handler's `retry_after`.
    case afterBackoff
    /// After the handler's `retry_after`, or soon.
    case afterSnooze
    /// At its schedule's next time.
    case nextOccurrence
  }

  /// What happens to the attempts spent.
  public enum Attempts: Sendable, Hashable {
    /// Nothing.
    case keep
    /// One more is spent.
    case spend
    /// Back to none.
    case reset
  }

  /// The state it leads to.
  public var state: RequestState
  /// When it is due, if `state` is pending.
  public var due: Due = .unchanged
  /// What happens to the attempts spent.
  public var attempts: Attempts = .keep
  /// Whether this is one more loss in a row; anything else ends the row.
  public var countsAsLoss = false
}

/// An event that the state does not allow.
public struct IllegalTransition: Error, Sendable, Equatable, CustomStringConvertible {
  /// The state it met.
  public let state: RequestState
  /// The event.
  public let event: RequestEvent

  /// The pair as given.
  public init(state: RequestState, event: RequestEvent) {
    self.state = state
    self.event = event
  }

  /// Names the state and the event.
  public var description: String { "a request that is \(state.rawValue) cannot be \(event)" }
}

extension RequestState {
  /// The one place where a request's state changes.
  ///
  /// - Source: semantics.md, "How a run ends, and what its request does then".
  public func transition(on event: RequestEvent, guards: RequestGuards) throws(IllegalTransition) -> RequestTransition {
    switch (self, event) {
    case (.blocked, .unblocked): return RequestTransition(state: .pending)
    case (.pending, .claimed): return RequestTransition(state: .claimed)
    case (.claimed, .released), (.running, .released): return RequestTransition(state: .pending)
    case (.pending, .started), (.claimed, .started): return RequestTransition(state: .running)
    case (.blocked, .cancelled), (.pending, .cancelled): return RequestTransition(state: .cancelled)
    case (.blocked, .predecessorFailed): return RequestTransition(state: .failed)
    case (.running, .ended(let outcome)): return Self.afterRun(outcome, guards: guards)
    case (.failed, .revived): return RequestTransition(state: .pending, due: .now, attempts: .reset)
    case (.failed, .discarded): return RequestTransition(state: .cancelled)
    case (.failed, .redriven): return RequestTransition(state: .blocked, attempts: .reset)
    case (let state, let event): throw IllegalTransition(state: state, event: event)
    }
  }

  private static func afterRun(_ outcome: RunOutcome, guards: RequestGuards) -> RequestTransition {
    switch outcome {
    case .succeeded, .noop: final(.succeeded, attempts: .reset, guards: guards)
    case .failed: final(.failed, attempts: .keep, guards: guards)
    case .cancelled: RequestTransition(state: .cancelled)
    case .snoozed: RequestTransition(state: .pending, due: .afterSnooze)
    case .stopped: RequestTransition(state: .pending, due: .now)
    case .retried, .expired, .crashed:
      guards.attemptsLeft
        ? RequestTransition(state: .pending, due: .afterBackoff, attempts: .spend) : final(.failed, attempts: .spend, guards: guards)
    case .lost:
      guards.lossesLeft
        ? RequestTransition(state: .pending, due: .now, countsAsLoss: true) : final(.failed, attempts: .keep, guards: guards)
    }
  }

  /// A repeating request never ends by itself: a final result ends the occurrence.
  private static func final(_ state: RequestState, attempts: RequestTransition.Attempts, guards: RequestGuards) -> RequestTransition {
    guards.repeating
      ? RequestTransition(state: .pending, due: .nextOccurrence, attempts: .reset) : RequestTransition(state: state, attempts: attempts)
  }
}
