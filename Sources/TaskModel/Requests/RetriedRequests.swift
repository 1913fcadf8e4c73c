/// The result of retrying dead letters together.
public struct RetriedRequests: Sendable, Hashable {
  /// A dead letter that could not be retried.
  public struct Refused: Sendable, Hashable {
    /// The request.
    public var id: RequestID
    /// Why the request could not be retried.
    public var message: String

    /// The same in words that fit other requests too; see ``RequestRefusal/reason``.
    public var reason: String

    /// Creates the refusal of a request among several.
    public init(id: RequestID, _ refusal: RequestRefusal) {
      self.id = id
      message = refusal.message
      reason = refusal.reason ?? refusal.message
    }
  }

  /// The requests that are now pending, or blocked by such a request, oldest first.
  public var retried: [RequestID] = []
  /// The requests that stay failed, oldest first.
  public var refused: [Refused] = []
  /// The last request that was examined, if there are more; the next call starts after it. Nil if all were examined.
  public var last: RequestID?

  /// Starts empty.
  public init() {}
}
