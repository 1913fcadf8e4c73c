/// The part of hysteresis that is level: two thresholds, and between them nothing changes.
struct Band: Sendable, Hashable {
  /// Worse than this, the condition is lost.
  var lost: Double
  /// As good as this or better, it holds.
  var holds: Double
  /// Whether more is better (a battery's charge) or worse (a load).
  var moreIsBetter: Bool

  /// Where `value` points; what is not a number points nowhere.
  func leaning(_ value: Double) -> Leaning {
    guard !value.isNaN else { return .unknown }
    if moreIsBetter {
      if value < lost { return .lost }
      return value >= holds ? .holds : .neither
    }
    if value > lost { return .lost }
    return value <= holds ? .holds : .neither
  }
}

extension Leaning {
  /// What several readings of one condition say together: one that is lost loses it, all must hold for it to hold; what is unknown has no
  /// say unless nothing is known.
  static func together(_ leanings: [Leaning]) -> Leaning {
    let known = leanings.filter { $0 != .unknown }
    if known.isEmpty { return .unknown }
    if known.contains(.lost) { return .lost }
    return known.allSatisfy { $0 == .holds } ? .holds : .neither
  }
}
