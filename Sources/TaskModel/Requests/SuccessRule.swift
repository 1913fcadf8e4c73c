/// Which return values of a typed handler's function mean success; any other value is a FAILURE.
public enum SuccessRule: String, Sendable, Hashable, CaseIterable {
  /// 0, false or NULL means success.
  case zero
  /// Anything but 0, false or NULL means success.
  case nonzero
  /// Any value means success.
  case any
}
