enum SweepInterruption: Error {
  case stopped
  case missing
  /// It cannot run at all, for this reason.
  case blocked(String)
}
