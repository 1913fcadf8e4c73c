public import TaskModel

/// How a machine that rests on battery is left alone: after a while its work waits for short maintenance windows, which become rarer.
///
/// - Source: Android's Doze. The times are the defaults of DeviceIdleController: LIGHT_IDLE_TIMEOUT 5 min, doubled up to
///   LIGHT_MAX_IDLE_TIMEOUT 15 min, with windows of LIGHT_IDLE_MAINTENANCE_MIN_BUDGET 1 min; IDLE_TIMEOUT 1 h, doubled up to
///   MAX_IDLE_TIMEOUT 6 h, with windows of IDLE_PENDING_TIMEOUT 5 min, doubled up to MAX_IDLE_PENDING_TIMEOUT 10 min.
public struct IdleStages: Sendable, Hashable {
  /// How deep the machine rests.
  public enum Stage: String, Sendable, CaseIterable {
    /// It has rested for minutes: a window after 5 minutes, then after 10, then every 15.
    case light
    /// It has rested for long: a window after 1 h, then after 2 h, 4 h, then every 6 h.
    case deep
  }

  /// The stage at a moment.
  public struct State: Sendable, Hashable {
    /// The stage.
    public let stage: Stage
    /// Whether a maintenance window is open.
    public let isWindow: Bool
    /// When the next window opens, or now if one is open.
    public let opens: WallTime
  }

  /// How long the machine has rested when the stage ``Stage/light`` begins: 1 s to 366 days.
  ///
  /// - Source: LIGHT_IDLE_AFTER_INACTIVE_TIMEOUT of Android 8 to 10.
  public var lightAfter: Duration = .seconds(5 * 60)
  /// How long it has rested when the stage ``Stage/deep`` begins, longer than ``lightAfter``: 1 s to 366 days.
  ///
  /// - Source: INACTIVE_TIMEOUT and IDLE_AFTER_INACTIVE_TIMEOUT of Android, 30 min each.
  public var deepAfter: Duration = .seconds(60 * 60)

  /// Creates the stages with Android's times.
  public init() {}

  /// The stage of a machine that has rested since `start`; nil if it has not rested long enough.
  public func state(at now: WallTime, restingSince start: WallTime) -> State? {
    let (light, deep) = (lightAfter.wholeMilliseconds, deepAfter.wholeMilliseconds)
    // Limits the time to 30 million years, so that calculations do not overflow.
    let rested = min((now - start).wholeMilliseconds, 1_000_000_000_000_000_000)
    func state(_ stage: Stage, _ phase: Phase, from begin: Int64) -> State {
      State(stage: stage, isWindow: phase.isWindow, opens: phase.isWindow ? now : start + .milliseconds(begin + phase.end))
    }
    guard rested >= light else { return nil }
    guard rested < deep else { return state(.deep, Self.phase(of: Self.deepPeriods, at: rested - deep), from: deep) }
    let phase = Self.phase(of: Self.lightPeriods, at: rested - light)
    // A window that would open after the stage has ended does not open.
    guard !phase.isWindow, light + phase.end >= deep else { return state(.light, phase, from: light) }
    return State(stage: .light, isWindow: false, opens: start + .milliseconds(deep + Self.deepPeriods[0].rest))
  }

  private struct Phase {
    let isWindow: Bool
    /// Milliseconds since the stage began.
    let end: Int64
  }

  private typealias Period = (rest: Int64, window: Int64)
  private static let minute: Int64 = 60_000
  /// The last one repeats.
  private static let lightPeriods: [Period] = [(5 * minute, minute), (10 * minute, minute), (15 * minute, minute)]
  private static let deepPeriods: [Period] = [
    (60 * minute, 5 * minute), (120 * minute, 10 * minute), (240 * minute, 10 * minute), (360 * minute, 10 * minute),
  ]

  private static func phase(of periods: [Period], at time: Int64) -> Phase {
    var begin: Int64 = 0
    for (index, period) in periods.enumerated() {
      let length = period.rest + period.window
      if index == periods.count - 1 { begin += (time - begin) / length * length }
      if time < begin + period.rest { return Phase(isWindow: false, end: begin + period.rest) }
      if time < begin + length { return Phase(isWindow: true, end: begin + length) }
      begin += length
    }
    return Phase(isWindow: true, end: begin)
  }
}
