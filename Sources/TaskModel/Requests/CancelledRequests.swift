/// Requests that were cancelled together.
public struct CancelledRequests: Sendable, Hashable {
  /// How many were cancelled or asked to stop.
  public var count = 0
  /// The last request that was examined, if there are more; the next call starts after it. Nil if all were examined.
  public var last: RequestID?

  /// Starts with none.
  public init() {}
}
