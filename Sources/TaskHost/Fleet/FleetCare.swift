import FleetStore
import HostThreads
import Logging
import TaskModel

/// Looks after what the fleet's database has besides its requests, now and then. What fails is tried again, and costs nothing else.
final class FleetCare {
  private let agent: FleetAgent
  /// When the days of the history that come are made next, and those that are over dropped; and when the rest is.
  private var (daysDue, restDue) = (MonotonicTime(nanoseconds: 0), MonotonicTime(nanoseconds: 0))

  private static let pause = Duration.seconds(3600)
  private static let pauseAfterFailure = Duration.seconds(60)
  /// While more is there than goes at once.
  private static let pauseAfterPart = Duration.seconds(5)

  init(_ agent: FleetAgent) { self.agent = agent }

  func look(_ session: FleetSession) {
    let now = SystemClock.now
    if now >= daysDue { daysDue = now + keepDays(session) }
    if now >= restDue { restDue = now + clean(session) }
  }

  /// Something failed that may have needed a day that is not there: the server's clock may have been set.
  func hurry() { daysDue = MonotonicTime(nanoseconds: 0) }

  /// - Returns: How long until it is looked at again.
  private func keepDays(_ session: FleetSession) -> Duration {
    do throws(FleetError) {
      let missing = try session.keepDays()
      guard !missing.isEmpty else { return Self.pause }
      let days = missing.joined(separator: ", ")
      agent.log.warning("the fleet's history has no \(days), and it could not be made: see taskhost fleet doctor")
    } catch { agent.log.warning("the days of the fleet's history were not looked after: \(Self.reason(of: error))") }
    return Self.pauseAfterFailure
  }

  /// - Returns: How long until it is looked at again.
  private func clean(_ session: FleetSession) -> Duration {
    do throws(FleetError) {
      try session.sweepLanes()
      return try session.clean() ? Self.pauseAfterPart : Self.pause
    } catch {
      agent.log.warning("what the fleet needs no more was not removed: \(Self.reason(of: error))")
      return Self.pauseAfterFailure
    }
  }

  private static func reason(of error: FleetError) -> String {
    error == .locked ? "another session of the fleet's database has locked its tables" : "\(error)"
  }
}
