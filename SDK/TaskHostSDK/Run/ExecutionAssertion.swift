import CTaskHost
import Synchronization

/// An execution assertion of a run: while it is held, a host that shuts down does not ask the run to stop.
///
/// Take one with ``TaskContext/beginAssertion(_:reason:for:onExpiration:)`` around work that must not be interrupted in the middle, and end
/// it as soon as possible. It ends at its time, with its run, and when the last reference to it goes away. Usable from any thread.
public final class ExecutionAssertion: Sendable {
  private let table: AssertionsTable
  private let run: RunHandle
  private let state: Mutex<State>

  private struct State: @unchecked Sendable {  // reason: the reference is taken out once, with the lock held
    let assertion: taskhost_assertion
    /// The host's reference to the closure.
    let context: Unmanaged<Context>
    var hasEnded = false
  }

  package init(
    _ run: RunHandle, _ name: String, reason: String?, for length: Duration, onExpiration: (@Sendable () -> Void)?
  ) throws(TaskHostError) {
    table = try AssertionsTable(run.table)
    self.run = run
    let context = Unmanaged.passRetained(Context(onExpiration))
    do throws(TaskHostError) {
      let assertion = try table.begin(
        name, reason: reason, for: length, expired: onExpiration == nil ? nil : Self.expired, context: context.toOpaque(), run.task)
      state = Mutex(State(assertion: assertion, context: context))
    } catch {
      context.release()
      throw error
    }
  }

  deinit { end() }

  /// How long it is still held at most; zero once it has ended or expired.
  public var remaining: Duration {
    let (assertion, hasEnded) = state.withLock { ($0.assertion, $0.hasEnded) }
    return hasEnded ? .zero : table.remaining(assertion, run.task)
  }

  /// Ends it; does nothing if it has ended. Waits for a call of the closure in progress, except from inside it.
  public func end() {
    let ending = state.withLock { state -> State? in
      defer { state.hasEnded = true }
      return state.hasEnded ? nil : state
    }
    guard let ending else { return }
    // The host has waited for a call in progress, unless the run is over: nobody knows then whether one goes on, and the closure stays.
    if table.end(ending.assertion, run.task) != taskhost_status(TASKHOST_ESTALE) { ending.context.release() }
  }

  private final class Context: Sendable {
    let expire: (@Sendable () -> Void)?

    init(_ expire: (@Sendable () -> Void)?) { self.expire = expire }
  }

  private static let expired: taskhost_assertion_handler = { _, _, context in
    guard let context else { return }
    Unmanaged<Context>.fromOpaque(context).takeUnretainedValue().expire?()
  }
}

extension TaskContext {
  /// Takes an execution assertion: a host that shuts down asks this run to stop only once it has ended. The run's own budget goes on.
  ///
  /// ```swift
  /// let assertion = try task.beginAssertion("notes", reason: "writing the database", for: .seconds(20))
  /// defer { assertion.end() }
  /// try database.save()
  /// ```
  ///
  /// - Parameters:
  ///   - name: Who holds it, for operators; 1 to 256 bytes.
  ///   - reason: Why the host must not end now; at most 1,024 bytes.
  ///   - length: How long at most, on the monotonic clock; at most 10 minutes.
  ///   - onExpiration: Called once at that time, on a thread of the host; never once the assertion has ended.
  /// - Throws: ``TaskHostError`` with the code `unavailable` if the host is shutting down already (begin nothing that must not be
  ///   interrupted), `limit`, `invalid`, `unsupported` or `stale`.
  public func beginAssertion(
    _ name: String, reason: String? = nil, for length: Duration = .seconds(30), onExpiration: (@Sendable () -> Void)? = nil
  ) throws(TaskHostError) -> ExecutionAssertion {
    try ExecutionAssertion(run, name, reason: reason, for: length, onExpiration: onExpiration)
  }
}
