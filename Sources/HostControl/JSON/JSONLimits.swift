/// What ``JSONReader`` accepts.
public struct JSONLimits: Sendable {
  /// Arrays and objects inside each other.
  public var depth = 128
  /// Values in all that are read; a bound on memory. Those inside of opaque members do not count.
  public var values = 1_000_000
  /// Names of members whose values are only checked, wherever they stand: what others wrote and nobody here reads.
  public var opaqueMembers: [String] = []

  /// The limits as given.
  public init(depth: Int = 128, values: Int = 1_000_000, opaqueMembers: [String] = []) {
    self.depth = depth
    self.values = values
    self.opaqueMembers = opaqueMembers
  }
}
