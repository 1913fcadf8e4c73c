/// Measures intervals, as Apple's `OSSignposter`. Nothing records signposts on Linux: an interval becomes one line of the level `debug` with
/// the time it took, at its end.
public struct OSSignposter: Sendable {
  private let log: OSLog

  /// Creates a signposter without a subsystem.
  public init() { log = .default }

  /// Creates the signposter of a part of the app.
  public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

  /// Creates the signposter of a part of the app.
  public init(subsystem: String, category: OSLog.Category) { log = OSLog(subsystem: subsystem, category: category) }

  /// Creates a signposter that writes as `logHandle` does.
  public init(logHandle: OSLog) { log = logHandle }

  /// Creates a signposter that writes as `logger` does.
  public init(logger: Logger) { log = logger.log }

  /// A signposter that writes nothing.
  public static let disabled = OSSignposter(logHandle: .disabled)

  /// Whether it writes.
  public var isEnabled: Bool { log.signpostsEnabled }

  /// An id that no other interval of this process has.
  public func makeSignpostID() -> OSSignpostID { OSSignpostID(.random(in: 1 ..< .max)) }

  /// Begins an interval, which is measured on the monotonic clock.
  public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState {
    OSSignpostIntervalState(begin: .now)
  }

  /// As ``beginInterval(_:id:)``; the message is written at once.
  public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) -> OSSignpostIntervalState {
    log.write(.debug, "\(name) begins: \(message.text)")
    return OSSignpostIntervalState(begin: .now)
  }

  /// Ends an interval, and writes how long it took.
  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) { log.write(.debug, "\(name): \(state.length)") }

  /// As ``endInterval(_:_:)``, with a message.
  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: OSLogMessage) {
    log.write(.debug, "\(name): \(state.length): \(message.text)")
  }

  /// Writes that something has happened.
  public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) { log.write(.debug, "\(name)") }

  /// Writes that something has happened, with a message.
  public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage) {
    log.write(.debug, "\(name): \(message.text)")
  }

  /// Measures `body`.
  public func withIntervalSignpost<Result>(
    _ name: StaticString, id: OSSignpostID = .exclusive, around body: () throws -> Result
  ) rethrows -> Result {
    let state = beginInterval(name, id: id)
    defer { endInterval(name, state) }
    return try body()
  }
}

/// Tells overlapping intervals of one name apart; here it is a number.
public struct OSSignpostID: Hashable, Sendable {
  /// The number.
  public let rawValue: UInt64

  /// An id by its number.
  public init(_ value: UInt64) { rawValue = value }

  /// The id of intervals that do not overlap.
  public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
}

/// An interval in progress.
public final class OSSignpostIntervalState: Sendable {
  private let begin: ContinuousClock.Instant

  init(begin: ContinuousClock.Instant) { self.begin = begin }

  var length: Duration { begin.duration(to: .now) }
}
