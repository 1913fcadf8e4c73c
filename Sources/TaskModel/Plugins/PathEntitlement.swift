/// How far a path is entitled, with the bits of `taskhost.h`.
public struct PathEntitlement: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt32

  /// What is there may be read.
  public static let read = PathEntitlement(rawValue: 1)
  /// What is there may be changed.
  public static let write = PathEntitlement(rawValue: 2)

  /// An entitlement with these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}
