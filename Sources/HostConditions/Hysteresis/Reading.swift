/// What a probe saw of one condition.
struct Reading: Sendable, Hashable {
  /// What it indicates.
  var leaning: Leaning
  /// What was seen, in a sentence without a full stop.
  var observed: String

  /// A reading that is unknown because of `reason`.
  static func unknown(_ reason: String) -> Reading { Reading(leaning: .unknown, observed: reason) }
}
