/// The level of a log line, as in Apple's module `os`.
public struct OSLogType: Equatable, Sendable {
  /// Apple's number.
  public let rawValue: UInt8

  /// A level by Apple's number. A number without a name counts as ``default``.
  public init(_ rawValue: UInt8) { self.rawValue = rawValue }

  /// A level by Apple's number. A number without a name counts as ``default``.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The host's level `notice`.
  public static let `default` = OSLogType(0)
  /// The host's level `info`.
  public static let info = OSLogType(1)
  /// The host's level `debug`.
  public static let debug = OSLogType(2)
  /// The host's level `error`.
  public static let error = OSLogType(16)
  /// The host's level `error`; the line says that it is a fault.
  public static let fault = OSLogType(17)
}
