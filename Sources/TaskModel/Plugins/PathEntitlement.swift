/// A plugin's entitlement to a path, with the bits of `taskhost.h`.
public struct PathEntitlement: OptionSet, Sendable, Hashable {
  /// The bits.
  public let rawValue: UInt32

  /// The path may be read.
  public static let read = PathEntitlement(rawValue: 1)
  /// The path may be written.
  public static let write = PathEntitlement(rawValue: 2)

  /// Creates an entitlement with these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}
