/// A plugin's recent behaviour. Crashes and forced stops count against the plugin; a good run clears them.
///
/// - Source: systemd's start limit and Kubernetes' CrashLoopBackOff.
public struct PluginHealth: Sendable, Hashable {
  /// Crashes and forced stops since the last good run.
  public var failures = 0
  /// Crashes that ended the host (thread isolation) since the plugin was last released.
  public var hostCrashes = 0
  /// The plugin gets no runs before this time; nil if it is not held.
  public var heldUntil: WallTime?
  /// When the plugin was quarantined; nil if it is not. A quarantined plugin gets no runs until it is released.
  public var quarantinedSince: WallTime?
  /// The last crash or forced stop, as a sentence.
  public var lastTrouble: String?

  /// Creates the health of a plugin without trouble.
  public init() {}

  /// Whether the plugin gets no runs until it is released.
  public var isQuarantined: Bool { quarantinedSince != nil }

  /// The number of consecutive failures at which a plugin is quarantined.
  public static let failuresToQuarantine = 5
  /// The number of crashes that ended the host at which a plugin moves to process isolation.
  public static let hostCrashesToIsolation = 2
  /// The number of crashes that ended the host at which a plugin is quarantined.
  public static let hostCrashesToQuarantine = 3

  /// Whether the plugin has ended the host so often that it must run in a worker process, whatever the configuration says.
  public var demandsProcess: Bool { hostCrashes >= Self.hostCrashesToIsolation }

  /// Whether the plugin gets no runs at `now`.
  public func isHeld(at now: WallTime) -> Bool { isQuarantined || heldUntil.map { now < $0 } ?? false }

  /// Adds a failure. The plugin is held for 2, 4, 8, 16 times `retry`'s first delay, and quarantined at the fifth failure.
  ///
  /// - Parameters:
  ///   - trouble: What happened, a sentence.
  ///   - tookHost: Whether the failure ended the host.
  public mutating func recordFailure(_ trouble: String, tookHost: Bool = false, retry: RetryPolicy, now: WallTime) {
    failures = failures.adding(saturating: 1)
    if tookHost { hostCrashes = hostCrashes.adding(saturating: 1) }
    lastTrouble = trouble
    if failures >= Self.failuresToQuarantine || hostCrashes >= Self.hostCrashesToQuarantine {
      heldUntil = nil
      quarantinedSince = quarantinedSince ?? now
    } else {
      heldUntil = now + Self.delay(afterStrike: failures, retry: retry)
    }
  }

  /// Resets everything except the crashes that ended the host, after a good run. A quarantine stays until the plugin is released.
  public mutating func clear() {
    guard !isQuarantined else { return }
    failures = 0
    heldUntil = nil
    if hostCrashes == 0 { lastTrouble = nil }
  }

  /// How long a plugin is held after failure number `strike`, from 1.
  public static func delay(afterStrike recordFailure: Int, retry: RetryPolicy) -> Duration {
    let factor = Int64(1) << Int64(min(max(recordFailure, 1), failuresToQuarantine - 1))
    return min(max(.zero, retry.initial) * factor, max(.zero, retry.maximum))
  }
}
