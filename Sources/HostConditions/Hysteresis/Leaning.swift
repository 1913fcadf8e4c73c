/// Where a reading of the machine points, before time has its say.
enum Leaning: Sendable, Hashable {
  /// To the condition being held.
  case holds
  /// To its being lost.
  case lost
  /// Between two thresholds: neither; what holds, holds on.
  case neither
  /// The machine does not tell.
  case unknown
}
