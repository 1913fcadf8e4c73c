/// The requests of one identifier that failed for good.
public struct DeadLetters: Sendable, Hashable {
  /// Whose.
  public var identifier: TaskIdentifier
  /// How many, from 1.
  public var count: Int
  /// When the first of them failed; nil if there are too many to look at all.
  public var oldest: WallTime?

  /// Dead letters as given.
  public init(identifier: TaskIdentifier, count: Int, oldest: WallTime?) {
    self.identifier = identifier
    self.count = count
    self.oldest = oldest
  }
}
