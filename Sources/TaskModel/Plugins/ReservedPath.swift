/// A path that the host, or every worker, relies on, and what no entitlement may have to do with it.
///
/// One rule for what a launch refuses and for what a denial must not advise.
public struct ReservedPath: Sendable, Hashable {
  /// Where a path is, seen from the reserved one.
  public enum Position: UInt8, Sendable {
    /// A folder that the reserved path is in.
    case above = 0
    /// The reserved path itself.
    case same = 1
    /// In the reserved path.
    case below = 2
  }

  /// Which entitlements are refused, by what they allow and where they are. The bits are those of `taskhost_sandbox_remember_reserved`.
  public struct Refusals: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8

    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// To read a folder that the reserved path is in.
    public static let readAbove = Refusals(rawValue: 1)
    /// To read the reserved path.
    public static let readSame = Refusals(rawValue: 2)
    /// To read what is in it.
    public static let readBelow = Refusals(rawValue: 4)
    /// To write a folder that the reserved path is in.
    public static let writeAbove = Refusals(rawValue: 8)
    /// To write the reserved path.
    public static let writeSame = Refusals(rawValue: 16)
    /// To write what is in it.
    public static let writeBelow = Refusals(rawValue: 32)

    /// To write, wherever.
    public static let write: Refusals = [.writeAbove, .writeSame, .writeBelow]
    /// To read or to write, wherever.
    public static let everything: Refusals = [.readAbove, .readSame, .readBelow, .write]

    /// Whether an entitlement to what is at `position` is refused.
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
  /// What no entitlement gives.
  public let refusals: Refusals

  /// - Parameters:
  ///   - path: Absolute, without links.
  ///   - refusals: What no entitlement gives.
  public init(_ path: String, refusals: Refusals) {
    self.path = path
    self.refusals = refusals
  }
}
