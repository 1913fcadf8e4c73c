/// How a plugin has behaved of late: crashes and forced stops count against it, a good run clears it.
///
/// - Source: the semantics' "Standing"; the shape is systemd's start limit and Kubernetes' CrashLoopBackOff.
public struct Standing: Sendable, Hashable {
  /// Crashes and forced stops since the last good run.
  public var strikes = 0
  /// Crashes that took the host along (thread isolation) since the plugin was last released.
  public var hostCrashes = 0
  /// It is given no runs before then; nil: now.
  public var heldUntil: WallTime?
  /// Since when it is given no runs until it is released; nil: it is not quarantined.
  public var quarantinedSince: WallTime?
  /// What counted against it last: a sentence.
  public var lastTrouble: String?

  /// A plugin that has done nothing wrong.
  public init() {}

  /// It is given no runs until it is released.
  public var isQuarantined: Bool { quarantinedSince != nil }

  /// Strikes in a row at which a plugin is quarantined.
  public static let strikesToQuarantine = 5
  /// Crashes that took the host along at which a plugin is moved to process isolation.
  public static let hostCrashesToIsolation = 2
  /// Crashes that took the host along at which a plugin is quarantined.
  public static let hostCrashesToQuarantine = 3

  /// Whether it is to be run in a worker process whatever the configuration says: it has taken the host along too often.
  public var demandsProcess: Bool { hostCrashes >= Self.hostCrashesToIsolation }

  /// Whether it is given no runs at `now`.
  public func isHeld(at now: WallTime) -> Bool { isQuarantined || heldUntil.map { now < $0 } ?? false }

  /// One more strike: it is held back for 2, 4, 8, 16 times `retry`'s first delay, and quarantined at the fifth.
  ///
  /// - Parameters:
  ///   - trouble: What happened, a sentence.
  ///   - tookHost: Whether it took the host along.
  public mutating func strike(_ trouble: String, tookHost: Bool = false, retry: RetryPolicy, now: WallTime) {
    strikes = strikes.adding(saturating: 1)
    if tookHost { hostCrashes = hostCrashes.adding(saturating: 1) }
    lastTrouble = trouble
    if strikes >= Self.strikesToQuarantine || hostCrashes >= Self.hostCrashesToQuarantine {
      heldUntil = nil
      quarantinedSince = quarantinedSince ?? now
    } else {
      heldUntil = now + Self.delay(afterStrike: strikes, retry: retry)
    }
  }

  /// What a good run makes of it: nothing is left but the host's crashes. A quarantine stays until the plugin is released.
  public mutating func clear() {
    guard !isQuarantined else { return }
    strikes = 0
    heldUntil = nil
    if hostCrashes == 0 { lastTrouble = nil }
  }

  /// How long a plugin is held back after that strike, the first being 1.
  public static func delay(afterStrike strike: Int, retry: RetryPolicy) -> Duration {
    let factor = Int64(1) << Int64(min(max(strike, 1), strikesToQuarantine - 1))
    return min(max(.zero, retry.initial) * factor, max(.zero, retry.maximum))
  }
}
