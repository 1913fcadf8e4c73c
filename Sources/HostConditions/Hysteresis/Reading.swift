/// What a probe saw of one condition.
struct Reading: Sendable, Hashable {
  /// Where it points.
  var leaning: Leaning
  /// What was seen, in a sentence without a full stop.
  var observed: String

  /// The machine does not tell, because of `reason`.
  static func unknown(_ reason: String) -> Reading { Reading(leaning: .unknown, observed: reason) }
}
