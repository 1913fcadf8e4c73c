public import TaskModel

/// Which events a reader wants.
public struct EventFilter: Sendable, Hashable {
  /// Only those of this request.
  public var request: RequestID?

  /// All, or those of one request.
  public init(request: RequestID? = nil) { self.request = request }

  /// Whether a reader wants events of `request`.
  func matches(_ request: RequestID) -> Bool { self.request == nil || self.request == request }
}
