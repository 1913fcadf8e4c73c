/// Where a run is: a value that changes by the four things that can happen to it, and says what is to be done then.
struct RunState {
  /// Where the launch handler is.
  enum Handler {
    case waiting
    case running
    case returned
  }

  private(set) var handler = Handler.waiting
  /// Whether the task was completed, and how.
  private(set) var success: Bool?
  /// Why the run must end; `nil` while it need not.
  private(set) var cause: ExpirationCause?
  /// Whether expiry has completed the task, since nobody was there to be told.
  private(set) var wasCompletedByExpiry = false
  /// Calls of the author's expiration handler that have not returned.
  private(set) var calls = 0
  private(set) var expiration: ExpirationHandler?
  /// Why it ended as it did, for the operator.
  private(set) var message: String?
  /// Whether a request for the run's identifier was submitted since it began.
  var hasSuccessor = false

  var hasExpired: Bool { cause != nil }

  /// Whether nothing of the run goes on.
  var isOver: Bool { success != nil && handler != .running && calls == 0 }

  /// The launch handler is about to be called.
  ///
  /// - Returns: False: it must not be, the run has ended.
  mutating func begin() -> Bool {
    guard handler == .waiting else { return false }
    handler = .running
    return true
  }

  mutating func returned() { handler = .returned }

  /// The author has completed the task.
  ///
  /// - Returns: False: it was completed before, which stands.
  mutating func complete(success: Bool) -> Bool {
    guard self.success == nil else { return false }
    self.success = success
    expiration = nil
    if !success { message = "the app completed it with success: false" }
    return true
  }

  /// The author has let go of the task without completing it: nobody can any more.
  ///
  /// - Returns: Whether that completes the task as a failure, false when it was completed before; and the handler that will not be called,
  ///   which the caller lets go of when it holds no lock.
  mutating func abandon() -> (completes: Bool, unused: ExpirationHandler?) {
    guard success == nil else { return (false, nil) }
    success = false
    message = "its task was released and setTaskCompleted was never called: nobody could complete it any more"
    defer { expiration = nil }
    return (true, expiration)
  }

  /// The run must end, because of `cause`.
  ///
  /// - Parameter notBegun: The sentence for a run whose launch handler has not even begun.
  /// - Returns: What is to be called, after which ``callReturned()`` is.
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

  /// The author sets or clears the expiration handler.
  ///
  /// - Returns: What the author is told at once, since the run has expired already.
  mutating func set(_ handler: ExpirationHandler?) -> ExpirationHandler? {
    if hasExpired, success == nil || wasCompletedByExpiry { return handler }
    if success == nil { expiration = handler }
    return nil
  }
}
