import HostThreads
import Logging
import StrictText
import Synchronization
import TaskModel

/// Counts connections that ended before TLS began. It logs the first at once, and then at most one a minute. Any thread.
final class HandshakeTally: Sendable {
  /// How long nothing further is logged.
  static let quiet = Duration.seconds(60)

  private struct State {
    var failures: UInt64 = 0
    var said: (at: MonotonicTime, count: UInt64)?
  }

  private let log: Logger
  private let state = Mutex(State())

  init(_ log: Logger) { self.log = log }

  /// All so far.
  var failures: UInt64 { state.withLock { $0.failures } }

  /// Counts one.
  ///
  /// - Parameters:
  ///   - address: The client's, with its port.
  ///   - reason: What went wrong, a clause; what the client sent may be in it.
  func fail(_ address: String, _ reason: String, at now: MonotonicTime = SystemClock.now) {
    let unsaid: UInt64? = state.withLock { state in
      state.failures += 1
      if let said = state.said, now - said.at < Self.quiet { return nil }
      let unsaid = state.failures - (state.said?.count ?? 0) - 1
      state.said = (now, state.failures)
      return unsaid
    }
    guard let unsaid else { return }
    log.warning(
      "a client over TCP did not begin TLS: \(String(reason.prefix(200)).escapingControlCharacters)",
      metadata: ["address": "\(address)", "not_logged_before": "\(unsaid)"])
  }
}
