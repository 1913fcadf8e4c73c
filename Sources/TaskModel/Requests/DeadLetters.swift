/// The requests of one identifier that failed permanently.
public struct DeadLetters: Sendable, Hashable {
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// The number of requests, from 1.
  public var count: Int
  /// When the first of the requests failed; nil if there are too many to read them all.
  public var oldest: WallTime?

  /// Creates a group of dead letters.
  public init(identifier: TaskIdentifier, count: Int, oldest: WallTime?) {
    self.identifier = identifier
    self.count = count
    self.oldest = oldest
  }
}
