/// Where a launcher runs handlers.
public enum Isolation: String, CaseIterable, Sendable {
  /// In threads of the test's process.
  case threads
  /// In worker processes, confined.
  case processes
}
