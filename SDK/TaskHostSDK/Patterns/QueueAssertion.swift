import Synchronization

/// One execution assertion for a whole queue of work: taken when the first item arrives, ended when the last one is done.
///
/// When its time is over, the queue pauses. It goes on as soon as the host grants another assertion, which a host that shuts down does not:
/// then leave the rest for a later run.
///
/// ```swift
/// let queue = QueueAssertion(task, "uploads", reason: "sending photos", for: .seconds(60))
/// queue.add(photos.count)
/// for photo in photos {
///   guard queue.mayContinue() else { return .snooze() }
///   try await send(photo)
///   queue.finish()
/// }
/// ```
///
/// Usable from any thread.
public final class QueueAssertion: Sendable {
  private struct State {
    var waiting = 0
    var assertion: ExecutionAssertion?
  }

  private let take: @Sendable () -> ExecutionAssertion?
  private let state = Mutex(State())

  /// Creates the assertion of an empty queue, which is not held yet.
  ///
  /// - Parameters:
  ///   - name: Who holds it, for operators; 1 to 256 bytes.
  ///   - reason: Why the host must not end now; at most 1,024 bytes.
  ///   - length: How long the queue may work at a time; at most 10 minutes.
  ///   - onPause: Called when that time is over and items are left, on a thread of the host.
  public init<Payload: Sendable>(
    _ task: TaskContext<Payload>, _ name: String, reason: String? = nil, for length: Duration = .seconds(30),
    onPause: (@Sendable () -> Void)? = nil
  ) {
    take = { try? task.beginAssertion(name, reason: reason, for: length, onExpiration: onPause) }
  }

  /// How many items were added and are not finished.
  public var count: Int { state.withLock { $0.waiting } }

  /// Whether the host waits for the queue now.
  public var isHeld: Bool { state.withLock { $0.assertion }.map { $0.remaining > .zero } ?? false }

  /// Items were added. The first one takes the assertion.
  ///
  /// - Returns: Whether the queue may work on them now; see ``mayContinue()``.
  @discardableResult public func add(_ items: Int = 1) -> Bool {
    state.withLock { $0.waiting += min(max(0, items), .max - $0.waiting) }
    return mayContinue()
  }

  /// Items are done. The last one ends the assertion.
  public func finish(_ items: Int = 1) {
    let last = state.withLock { state -> ExecutionAssertion? in
      state.waiting = max(0, state.waiting - max(0, items))
      guard state.waiting == 0 else { return nil }
      defer { state.assertion = nil }
      return state.assertion
    }
    last?.end()
  }

  /// Whether to begin the next item. A queue that has paused takes another assertion.
  ///
  /// - Returns: False if the queue is empty, or is paused and the host grants no assertion now.
  public func mayContinue() -> Bool {
    let (isEmpty, held) = state.withLock { ($0.waiting == 0, $0.assertion) }
    guard !isEmpty else { return false }
    if let held, held.remaining > .zero { return true }
    guard let new = take() else { return false }
    // The last item may have been finished meanwhile, or another thread was first: then this one goes away, which ends it.
    return state.withLock { state in
      guard state.waiting > 0 else { return false }
      if state.assertion === held { state.assertion = new }
      return true
    }
  }
}
