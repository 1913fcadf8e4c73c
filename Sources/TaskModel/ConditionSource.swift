/// Knows which conditions hold now.
public protocol ConditionSource: Sendable {
  /// The conditions that hold.
  func satisfied() -> Conditions
}
