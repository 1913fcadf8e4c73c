/// Why a rule ended early.
enum SweepInterruption: Error {
  /// It was asked to stop.
  case stopped
  /// Its directory does not exist.
  case missing
  /// It cannot run at all, for this reason.
  case blocked(String)
}
