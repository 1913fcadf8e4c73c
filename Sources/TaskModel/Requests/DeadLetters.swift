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

  /// Puts the groups of one identifier together, as of a host and its fleet. In the order of the identifiers.
  public static func joined(_ groups: [DeadLetters]) -> [DeadLetters] {
    Dictionary(grouping: groups, by: \.identifier).map { identifier, groups in
      let times = groups.compactMap(\.oldest)
      return DeadLetters(
        identifier: identifier, count: groups.reduce(0) { $0 + $1.count }, oldest: times.count == groups.count ? times.min() : nil)
    }.sorted { $0.identifier < $1.identifier }
  }
}
