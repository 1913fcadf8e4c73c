/// What became of dead letters that were retried together.
public struct RetriedRequests: Sendable, Hashable {
  /// A dead letter that stays one.
  public struct Refused: Sendable, Hashable {
    /// The request.
    public var id: RequestID
    /// Why.
    public var message: String

    /// A refusal as given.
    public init(id: RequestID, message: String) {
      self.id = id
      self.message = message
    }
  }

  /// Those that are pending again, or blocked by one that is, the oldest first.
  public var retried: [RequestID] = []
  /// Those that stay as they are, the oldest first.
  public var refused: [Refused] = []
  /// The last one that was looked at, if there are more: the rest begins after it. Nil: all were looked at.
  public var last: RequestID?

  /// None yet.
  public init() {}
}
