import TaskModel

/// Which events a reader of the stream gets.
struct EventSelection: Sendable {
  /// Only those of this request; nil: of all.
  var request: RequestID?
  /// Only those of identifiers in this scope.
  var scope = AccessScope.all

  var isAll: Bool { request == nil && scope.isAll }

  func contains(_ event: HeldEvent) -> Bool {
    guard request == nil || request == event.request else { return false }
    return scope.isAll || event.identifier.map(scope.contains) ?? false
  }
}
