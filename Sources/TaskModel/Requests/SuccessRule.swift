/// Which values that a typed handler's function returns mean that its run succeeded; any other is a FAILURE.
public enum SuccessRule: String, Sendable, Hashable, CaseIterable {
  /// 0, false or NULL: success.
  case zero
  /// Anything but 0, false or NULL: success.
  case nonzero
  /// Whatever is returned: success.
  case any
}
