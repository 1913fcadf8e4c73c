/// A resource with too few free tokens.
public struct ResourceShortage: Sendable, Hashable, CustomStringConvertible {
  /// Its name.
  public let name: String
  /// The number wanted.
  public let wanted: Int
  /// The number free.
  public let free: Int
  /// The capacity; nil if the name is unknown.
  public let capacity: Int?

  /// Whether no amount of waiting helps under the current configuration.
  public var isForever: Bool { wanted > capacity ?? 0 }

  /// What is missing, and what to do if waiting cannot help.
  public var description: String {
    guard let capacity else {
      return "there is no resource \"\(name)\": define it under [resources], or as a label of a host under [fleet]"
    }
    guard wanted <= capacity else { return "needs \(wanted) of \(name), but its capacity is \(capacity): raise it under [resources]" }
    return "needs \(wanted) of \(name): \(free) of \(capacity) free"
  }
}
