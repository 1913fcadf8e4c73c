/// Where a plugin's code runs.
enum Isolation: String, CaseIterable, Sendable {
  /// In a worker process of its own.
  case process
  /// On threads of the host.
  case thread
}
