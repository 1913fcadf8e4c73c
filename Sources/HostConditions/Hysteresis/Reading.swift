/// The thresholds of hysteresis: between the two, nothing changes.
struct Band: Sendable, Hashable {
  /// Worse than this, the condition is lost.
  var lost: Double
  /// As good as this or better, it holds.
  var holds: Double
  /// Whether more is better (a battery's charge) or worse (a load).
  var moreIsBetter: Bool

  /// `unknown` for NaN.
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
  /// Combines several readings of one condition: it is lost if one is lost, and holds only if all hold. Unknown readings are ignored unless
  /// all are unknown.
  static func together(_ leanings: [Leaning]) -> Leaning {
    let known = leanings.filter { $0 != .unknown }
    if known.isEmpty { return .unknown }
    if known.contains(.lost) { return .lost }
    return known.allSatisfy { $0 == .holds } ? .holds : .neither
  }
}

/// What a reading indicates, before delays apply.
enum Leaning: Sendable, Hashable {
  case holds
  case lost
  /// Between two thresholds: the condition stays as it is.
  case neither
  /// The machine does not report it.
  case unknown
}

/// A probe's observation of one condition.
struct Reading: Sendable, Hashable {
  var leaning: Leaning
  /// A sentence without a full stop.
  var observed: String

  static func unknown(_ reason: String) -> Reading { Reading(leaning: .unknown, observed: reason) }
}
