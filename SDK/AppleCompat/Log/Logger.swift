/// Writes log lines, as Apple's `os.Logger`.
///
/// Inside of a run, a line goes to the run's log: within the Swift task in which its handler was called, and on other threads if it is the
/// only live run. Otherwise it goes to standard error, which a worker's host puts into the plugin's log. A line begins with the subsystem
/// and the category. Values that are not public are replaced: see ``OSLogPrivacy``. The host's log level decides which lines it shows.
public struct Logger: Sendable {
  let log: OSLog

  /// Creates a logger without a subsystem.
  public init() { log = .default }

  /// Creates a logger of a part of the app.
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// Creates a logger that writes as `logObj` does.
  public init(_ logObj: OSLog) { log = logObj }

  /// Writes a line of the level ``OSLogType/default``.
  public func log(_ message: OSLogMessage) { log.write(.default, message.text) }

  /// Writes a line.
  public func log(level: OSLogType, _ message: OSLogMessage) { log.write(level, message.text) }

  /// Writes a line of the host's level `trace`.
  public func trace(_ message: OSLogMessage) { log.write(.trace, message.text) }

  /// Writes a line of the host's level `debug`.
  public func debug(_ message: OSLogMessage) { log.write(.debug, message.text) }

  /// Writes a line of the host's level `info`.
  public func info(_ message: OSLogMessage) { log.write(.info, message.text) }

  /// Writes a line of the host's level `notice`.
  public func notice(_ message: OSLogMessage) { log.write(.default, message.text) }

  /// Writes a line of the host's level `warning`.
  public func warning(_ message: OSLogMessage) { log.write(.warning, message.text) }

  /// Writes a line of the host's level `error`.
  public func error(_ message: OSLogMessage) { log.write(.error, message.text) }

  /// As ``fault(_:)``.
  public func critical(_ message: OSLogMessage) { log.write(.fault, message.text) }

  /// Writes a line of the host's level `error`, which says that it is a fault.
  public func fault(_ message: OSLogMessage) { log.write(.fault, message.text) }
}

extension OSLogType {
  // Apple's numbers have no place for the host's two other levels.
  static let trace = OSLogType(254)
  static let warning = OSLogType(255)
}
