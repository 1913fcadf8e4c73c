/// A resource of which too little is free.
public struct ResourceShortage: Sendable, Hashable, CustomStringConvertible {
  /// Its name.
  public let name: String
  /// How many are wanted.
  public let wanted: Int
  /// How many are free.
  public let free: Int
  /// How many there are; nil if the name is unknown.
  public let capacity: Int?

  /// Whether it will never be enough, as long as the configuration stays as it is.
  public var isForever: Bool { wanted > capacity ?? 0 }

  /// What is missing, and what to do if waiting does not help.
  public var description: String {
    guard let capacity else { return "there is no resource \"\(name)\": name it under [resources]" }
    guard wanted <= capacity else { return "needs \(wanted) of \(name), and there are only \(capacity): raise it under [resources]" }
    return "needs \(wanted) of \(name): \(free) of \(capacity) free"
  }
}
