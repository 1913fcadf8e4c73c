/// Which return values of a typed handler's function mean success; any other value is a FAILURE.
public enum SuccessRule: String, Sendable, Hashable, CaseIterable {
  /// 0, false or NULL: success.
  case zero
  /// Anything but 0, false or NULL: success.
  case nonzero
  /// Any value: success.
  case any
}
