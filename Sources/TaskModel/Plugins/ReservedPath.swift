/// A path that the host or every worker relies on, and the entitlements that it rules out.
///
/// The same rule decides which entitlements a launch refuses and which a denial must not suggest.
public struct ReservedPath: Sendable, Hashable {
  /// Where a path is relative to the reserved one.
  public enum Position: UInt8, Sendable {
    /// A folder that contains the reserved path.
    case above = 0
    /// The reserved path itself.
    case same = 1
    /// Below the reserved path.
    case below = 2
  }

  /// The refused entitlements, by access and position. The bits are those of `taskhost_sandbox_remember_reserved`.
  public struct Refusals: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: UInt8

    /// Creates refusals with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading a folder that contains the reserved path.
    public static let readAbove = Refusals(rawValue: 1)
    /// Reading the reserved path.
    public static let readSame = Refusals(rawValue: 2)
    /// Reading paths below the reserved path.
    public static let readBelow = Refusals(rawValue: 4)
    /// Writing a folder that contains the reserved path.
    public static let writeAbove = Refusals(rawValue: 8)
    /// Writing the reserved path.
    public static let writeSame = Refusals(rawValue: 16)
    /// Writing paths below the reserved path.
    public static let writeBelow = Refusals(rawValue: 32)

    /// Writing, at any position.
    public static let write: Refusals = [.writeAbove, .writeSame, .writeBelow]
    /// Reading or writing, at any position.
    public static let everything: Refusals = [.readAbove, .readSame, .readBelow, .write]

    /// Whether an entitlement to a path at `position` is refused.
    public func refuse(_ position: Position, isWritable: Bool) -> Bool {
      switch (position, isWritable) {
      case (.above, false): contains(.readAbove)
      case (.same, false): contains(.readSame)
      case (.below, false): contains(.readBelow)
      case (.above, true): contains(.writeAbove)
      case (.same, true): contains(.writeSame)
      case (.below, true): contains(.writeBelow)
      }
    }
  }

  /// An absolute path without links.
  public let path: String
  /// The entitlements that are refused.
  public let refusals: Refusals

  /// Creates a reserved path.
  ///
  /// - Parameters:
  ///   - path: Absolute, without links.
  ///   - refusals: The entitlements that are refused.
  public init(_ path: String, refusals: Refusals) {
    self.path = path
    self.refusals = refusals
  }
}
