import TaskHostSDK

/// The state of a run: a value that each event changes, and that tells what to do next.
struct RunState {
  enum Handler {
    case waiting
    case running
    case returned
  }

  private(set) var handler = Handler.waiting
  /// `nil` until the task is completed.
  private(set) var success: Bool?
  /// Whether it was completed because there was nothing to do.
  private(set) var isNoop = false
  /// Why the run must end; `nil` while it need not.
  private(set) var cause: ExpirationCause?
  /// Whether expiration completed the task, because no handler was set.
  private(set) var wasCompletedByExpiry = false
  /// Calls of the author's expiration handler that have not returned.
  private(set) var calls = 0
  private(set) var expiration: ExpirationHandler?
  /// Why the run ended, for the operator.
  private(set) var message: String?
  /// Whether a request for the run's identifier has been submitted since the run began.
  var hasSuccessor = false

  var hasExpired: Bool { cause != nil }

  /// Whether nothing of the run is in progress.
  var isOver: Bool { success != nil && handler != .running && calls == 0 }

  /// - Returns: False if the launch handler must not be called, because the run has ended.
  mutating func begin() -> Bool {
    guard handler == .waiting else { return false }
    handler = .running
    return true
  }

  mutating func returned() { handler = .returned }

  /// - Returns: False if the task was completed before; the first completion counts.
  mutating func complete(success: Bool, isNoop: Bool = false) -> Bool {
    guard self.success == nil else { return false }
    self.success = success
    self.isNoop = success && isNoop
    expiration = nil
    if !success { message = "the app completed it with success: false" }
    return true
  }

  /// Fails the task that its author released without completing it.
  ///
  /// - Returns: Whether that completes the task, false if it was completed before; and the handler that will not be called, which the
  ///   caller must release without holding a lock.
  mutating func abandon() -> (completes: Bool, unused: ExpirationHandler?) {
    guard success == nil else { return (false, nil) }
    success = false
    message = "its task was released and setTaskCompleted was never called: nobody could complete it any more"
    defer { expiration = nil }
    return (true, expiration)
  }

  /// - Parameter notBegun: The sentence for a run whose launch handler has not begun.
  /// - Returns: The handler to call, followed by ``callReturned()``.
  mutating func expire(_ cause: ExpirationCause, notBegun: String) -> ExpirationHandler? {
    guard !hasExpired, success == nil else { return nil }
    self.cause = cause
    let why = cause.sentence
    if let expiration, handler != .waiting {
      self.expiration = nil
      calls += 1
      return expiration
    }
    success = false
    wasCompletedByExpiry = true
    message = handler == .waiting ? "\(why) \(notBegun)" : "\(why) No expirationHandler was set, so it counts as failed."
    if handler == .waiting { handler = .returned }
    return nil
  }

  mutating func callReturned() { calls -= 1 }

  /// - Returns: The handler to call at once, because the run has already expired.
  mutating func set(_ handler: ExpirationHandler?) -> ExpirationHandler? {
    if hasExpired, success == nil || wasCompletedByExpiry { return handler }
    if success == nil { expiration = handler }
    return nil
  }
}

enum ExpirationCause: Equatable, Sendable {
  /// The host expired it.
  case host(StopReason)
  /// The 30 s of an app refresh are over; this module measures them if the identifier has a longer kind.
  case refresh(Duration)

  var sentence: String {
    switch self {
    case .refresh(let budget): "Its \(budget) as an app refresh task are over."
    case .host(.none): "The host has given the run up."
    case .host(.budget): "Its time is over."
    case .host(.cancelled): "Its request was cancelled."
    case .host(.conditions): "A condition it requires was lost."
    case .host(.draining): "The host is shutting down."
    case .host(.replaced): "A newer request took its place."
    case .host(.stalled): "Its progress has not risen for too long."
    case .host(.other(let reason)): "The host asked it to stop (reason \(reason))."
    }
  }

  /// Whether the run itself took too long; false if something around it changed.
  var isOvertime: Bool {
    switch self {
    case .refresh, .host(.budget), .host(.stalled): true
    case .host: false
    }
  }
}
