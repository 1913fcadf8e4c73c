/// The stored state of a task request.
public enum RequestState: String, Sendable, CaseIterable {
  /// The request waits for another request to end.
  case blocked
  /// The request waits for its time and its turn.
  case pending
  /// The request is handed to a launcher before its run starts. It can be taken back; people and plugins see it as pending.
  case claimed
  /// A handler works on the request.
  case running
  /// The request ended with success.
  case succeeded
  /// The request failed permanently: a dead letter.
  case failed
  /// Someone cancelled the request.
  case cancelled

  /// The state that people and plugins see: `claimed` appears as `pending`.
  public var shown: RequestState { self == .claimed ? .pending : self }

  /// Whether the request has ended.
  public var isFinal: Bool {
    switch self {
    case .succeeded, .failed, .cancelled: true
    case .blocked, .pending, .claimed, .running: false
    }
  }
}

/// What can happen to a request.
public enum RequestEvent: Sendable, Hashable {
  /// The requests that it waited for have ended.
  case unblocked
  /// The request is handed to a launcher before its run starts.
  case claimed
  /// The request is taken back: its run has not started and will not start.
  case released
  /// The run starts.
  case started
  /// The run ended.
  case ended(RunOutcome)
  /// Someone cancels the request, or a newer request replaces it.
  case cancelled
  /// A request that had to succeed first has failed.
  case predecessorFailed
  /// Nobody can read any more what it was submitted with, see ``RunInput/damage``.
  case unreadable
  /// An operator retries a dead letter.
  case retried
  /// An operator discards a dead letter.
  case discarded
  /// A dead letter is retried together with the predecessor that made it fail, and waits for that predecessor again.
  case redriven
}

/// The guards of a transition besides state and event.
public struct RequestGuards: Sendable, Hashable {
  /// Whether another attempt is allowed after this one.
  public var attemptsLeft: Bool
  /// Whether another consecutive loss is allowed.
  public var lossesLeft: Bool
  /// Whether the request repeats.
  public var repeating: Bool

  /// Creates guards; by default everything is allowed.
  public init(attemptsLeft: Bool = true, lossesLeft: Bool = true, repeating: Bool = false) {
    self.attemptsLeft = attemptsLeft
    self.lossesLeft = lossesLeft
    self.repeating = repeating
  }
}

/// The result of an event: the new state and its effects.
public struct RequestTransition: Sendable, Hashable {
  /// When the request is due if it becomes pending again.
  public enum Due: Sendable, Hashable {
    /// Unchanged.
    case unchanged
    /// Immediately.
    case now
    /// After the retry policy's backoff, or the handler's `retry_after`.
    case afterBackoff
    /// After the handler's `retry_after`, or soon.
    case afterSnooze
    /// At the next time of its schedule.
    case nextOccurrence
  }

  /// The effect on a count.
  public enum Count: Sendable, Hashable {
    /// No change.
    case keep
    /// One more.
    case add
    /// Back to 0.
    case reset
  }

  /// The new state.
  public var state: RequestState
  /// When the request is due, if `state` is pending.
  public var due: Due = .unchanged
  /// The effect on the attempts spent.
  public var attempts: Count = .keep
  /// The effect on the consecutive losses: every other end of a run resets them.
  public var losses: Count = .keep

  /// Whether the request has ended for good, or the occurrence of a repeating one.
  public var isFinal: Bool { state.isFinal || due == .nextOccurrence }
}

/// An event that the state does not allow.
public struct IllegalTransition: Error, Sendable, Equatable, CustomStringConvertible {
  /// The state.
  public let state: RequestState
  /// The event.
  public let event: RequestEvent

  /// Creates the error for a state and an event.
  public init(state: RequestState, event: RequestEvent) {
    self.state = state
    self.event = event
  }

  /// Names the state and the event.
  public var description: String { "a request that is \(state.rawValue) cannot be \(event)" }
}

extension RequestState {
  /// The one place where a request's state changes.
  public func transition(on event: RequestEvent, guards: RequestGuards = RequestGuards()) throws(IllegalTransition) -> RequestTransition {
    switch (self, event) {
    case (.blocked, .unblocked): return RequestTransition(state: .pending)
    case (.pending, .claimed): return RequestTransition(state: .claimed)
    case (.claimed, .released), (.running, .released): return RequestTransition(state: .pending)
    case (.pending, .started), (.claimed, .started): return RequestTransition(state: .running)
    case (.blocked, .cancelled), (.pending, .cancelled): return RequestTransition(state: .cancelled)
    case (.blocked, .predecessorFailed), (.pending, .unreadable): return RequestTransition(state: .failed)
    case (.running, .ended(let outcome)): return Self.afterRun(outcome, guards: guards)
    case (.failed, .retried): return RequestTransition(state: .pending, due: .now, attempts: .reset, losses: .reset)
    case (.failed, .discarded): return RequestTransition(state: .cancelled)
    case (.failed, .redriven): return RequestTransition(state: .blocked, attempts: .reset, losses: .reset)
    case (let state, let event): throw IllegalTransition(state: state, event: event)
    }
  }

  fileprivate static func afterRun(_ outcome: RunOutcome, guards: RequestGuards) -> RequestTransition {
    switch outcome {
    case .succeeded, .noop: final(.succeeded, attempts: .reset, guards: guards)
    case .failed: final(.failed, attempts: .keep, guards: guards)
    case .cancelled: RequestTransition(state: .cancelled, losses: .reset)
    case .snoozed: RequestTransition(state: .pending, due: .afterSnooze, losses: .reset)
    case .stopped: RequestTransition(state: .pending, due: .now, losses: .reset)
    case .retried, .expired, .crashed:
      guards.attemptsLeft
        ? RequestTransition(state: .pending, due: .afterBackoff, attempts: .add, losses: .reset)
        : final(.failed, attempts: .add, guards: guards)
    case .lost:
      guards.lossesLeft
        ? RequestTransition(state: .pending, due: .now, losses: .add) : final(.failed, attempts: .keep, guards: guards)
    }
  }

  /// Ends the request, or only the occurrence of a repeating request, which never ends by itself.
  private static func final(_ state: RequestState, attempts: RequestTransition.Count, guards: RequestGuards) -> RequestTransition {
    guards.repeating
      ? RequestTransition(state: .pending, due: .nextOccurrence, attempts: .reset, losses: .reset)
      : RequestTransition(state: state, attempts: attempts, losses: .reset)
  }
}

extension RunOutcome {
  /// Whether the run counts as one of its request's attempts when the request goes on, or fails because none is left.
  public var spendsAttempt: Bool { RequestState.afterRun(self, guards: RequestGuards()).attempts == .add }

  /// Whether the run counts as one more of its request's losses in a row, when the request goes on.
  public var addsLoss: Bool { RequestState.afterRun(self, guards: RequestGuards()).losses == .add }
}
