/// What a reading indicates, before delays apply.
enum Leaning: Sendable, Hashable {
  /// The condition holds.
  case holds
  /// The condition is lost.
  case lost
  /// Between two thresholds: the condition stays as it is.
  case neither
  /// The machine does not report it.
  case unknown
}
