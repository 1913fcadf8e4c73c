import TestSupport
import HostThreads
public import TaskModel

/// A launcher's sink that keeps every event, for tests to wait for.
public final class Recorder: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let monitor = Monitor()
  private var events: [LauncherEvent] = []
  private let observe: @Sendable (LauncherEvent) -> Void

  /// - Parameter observe: Called on the launcher's thread before an event is kept.
  public init(observe: @escaping @Sendable (LauncherEvent) -> Void = { _ in }) { self.observe = observe }

  /// The sink.
  public func receive(_ event: LauncherEvent) {
    observe(event)
    monitor.locked {
      events.append(event)
      monitor.broadcast()
    }
  }

  /// The events so far.
  public var all: [LauncherEvent] { monitor.locked { events } }

  /// How a run ended.
  public struct End: Sendable {
    /// How.
    public let ending: RunEnding
    /// What is known of it.
    public let report: RunReport
  }

  /// Waits until `find` finds something in the events; throws after `seconds`.
  public func first<Value: Sendable>(
    _ what: String, within seconds: Int = 60, _ find: @escaping @Sendable (LauncherEvent) -> Value?
  ) async throws -> Value {
    try await onThread { [self] in
      let deadline = SystemClock.now + .seconds(seconds)
      return try monitor.locked {
        var seen = 0
        while true {
          while seen < events.count {
            if let found = find(events[seen]) { return found }
            seen += 1
          }
          guard monitor.wait(until: deadline) || seen < events.count else { throw TestFailure("\(what) did not come in \(seconds) s") }
        }
      }
    }
  }

  /// Waits until `holds` says so of all events; throws after `seconds`.
  public func until(_ what: String, within seconds: Int = 60, _ holds: @escaping @Sendable ([LauncherEvent]) -> Bool) async throws {
    try await onThread { [self] in
      let deadline = SystemClock.now + .seconds(seconds)
      try monitor.locked {
        while !holds(events) { guard monitor.wait(until: deadline) else { throw TestFailure("\(what) did not come in \(seconds) s") } }
      }
    }
  }

  /// Waits for the end of a run.
  public func end(of run: RunID, within seconds: Int = 60) async throws -> End {
    try await first("the end of \(run)", within: seconds) { event in
      if case .ended(run, let ending, let report) = event { End(ending: ending, report: report) } else { nil }
    }
  }

  /// Waits until a run is given back: it has not begun. What the host was short of, if it was.
  @discardableResult public func withdrawal(of run: RunID, within seconds: Int = 60) async throws -> String? {
    try await until("the return of \(run)", within: seconds) { events in
      events.contains { if case .withdrawn(run) = $0 { true } else { false } }
    }
    return all.reversed().lazy.compactMap { if case .shortage(_, let sentence, _) = $0 { sentence } else { nil } }.first
  }

  /// Waits until a run has ended or is given back; what the host was short of, in the second case.
  public func endOrShortage(of run: RunID) async throws -> String? {
    let isBack = try await first("the end of \(run)") { event -> Bool? in
      switch event {
      case .ended(run, _, _): false
      case .withdrawn(run): true
      default: nil
      }
    }
    return isBack ? try await withdrawal(of: run) : nil
  }

  /// Waits until a run has expired.
  public func expiration(of run: RunID) async throws -> StopReason {
    try await first("the expiration of \(run)") { event in
      if case .expired(let reference, let reason) = event, reference.run == run { reason } else { nil }
    }
  }

  /// Waits until the plugin takes runs again.
  public func resumption(of identifier: TaskIdentifier) async throws {
    _ = try await first("resumed") { event -> Bool? in if case .resumed(identifier) = event { true } else { nil } }
  }
}
