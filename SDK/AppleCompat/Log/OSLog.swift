import Foundation
import Logging
import TaskHostSDK

/// A part of an app that writes log lines, as Apple's `OSLog`. See ``Logger`` for where they go.
public final class OSLog: Sendable {
  private let prefix: String
  private let isDisabled: Bool

  /// Creates the log of a part of the app.
  public init(subsystem: String, category: String) {
    prefix = subsystem.isEmpty && category.isEmpty ? "" : "[\(subsystem):\(category)] "
    isDisabled = false
  }

  /// Creates the log of a part of the app.
  public convenience init(subsystem: String, category: Category) { self.init(subsystem: subsystem, category: category.rawValue) }

  private init(isDisabled: Bool) {
    prefix = ""
    self.isDisabled = isDisabled
  }

  /// The log without a subsystem.
  public static let `default` = OSLog(isDisabled: false)
  /// A log that writes nothing.
  public static let disabled = OSLog(isDisabled: true)

  /// A category with a meaning for Apple's tools; here it is a name.
  public struct Category: Sendable {
    let rawValue: String
    /// Points of interest.
    public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
  }

  /// Whether lines of the level are written: the host, not the plugin, decides which are shown.
  public func isEnabled(type: OSLogType) -> Bool { !isDisabled }

  /// Whether signposts are written.
  public var signpostsEnabled: Bool { !isDisabled }

  func write(_ type: OSLogType, _ text: String) {
    guard !isDisabled else { return }
    let (level, mark): (Logging.Logger.Level, String) =
      switch type {
      case .trace: (.trace, "")
      case .debug: (.debug, "")
      case .info: (.info, "")
      case .warning: (.warning, "")
      case .error: (.error, "")
      case .fault: (.error, "fault: ")
      default: (.notice, "")
      }
    let line = prefix + mark + text
    if let run = CurrentRun.certain, run.log(level, line) == true { return }
    FileHandle.standardError.write(Data("\(level): \(line)\n".utf8))
  }
}

/// Writes a line of the level ``OSLogType/default`` to the log without a subsystem.
public func os_log(_ message: OSLogMessage) { OSLog.default.write(.default, message.text) }

/// Writes a line whose values are interpolated.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) { log.write(type, message.text) }

/// Writes a line with a format as in C.
///
/// `%@`, `%s` and pointers are `<private>` unless they are marked as `%{public}@`; numbers are public unless they are marked as `%{private}d`.
/// A conversion without a value is written as it is. Unlike Apple's, an argument may be any value.
public func os_log(
  _ message: StaticString, dso: UnsafeRawPointer? = nil, log: OSLog = .default, type: OSLogType = .default, _ arguments: Any?...
) { log.write(type, LogFormat.text("\(message)", arguments)) }

/// Writes a line with a format as in C: see ``os_log(_:dso:log:type:_:)``.
public func os_log(
  _ type: OSLogType, dso: UnsafeRawPointer? = nil, log: OSLog = .default, _ message: StaticString, _ arguments: Any?...
) { log.write(type, LogFormat.text("\(message)", arguments)) }
