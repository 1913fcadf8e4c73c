/// Why a rule was not carried out to its end.
enum SweepInterruption: Error {
  /// Told to stop.
  case stopped
  /// Its directory does not exist.
  case missing
  /// It cannot run at all, for this reason.
  case blocked(String)
}
