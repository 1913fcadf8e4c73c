import Synchronization
public import TaskModel

/// A launch policy that permits all but what it is told, and keeps what is logged.
public final class OpenPolicy: LaunchPolicy {
  private let refusal: CallFailure?
  private let lines = Mutex<[LogLine]>([])

  /// - Parameter refusal: What every identifier is answered; nil: it is permitted.
  public init(refusal: CallFailure? = nil) { self.refusal = refusal }

  /// The messages logged so far.
  public var logged: [String] { lines.withLock { $0.map(\.message) } }

  /// Permits it, or throws the refusal.
  public func admit(_ identifier: TaskIdentifier) throws(CallFailure) { if let refusal { throw refusal } }
  /// The identifier, as JSON.
  public func settings(for identifier: TaskIdentifier) -> String { "{\"who\":\"\(identifier)\"}" }
  /// A folder that is not there.
  public func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String { "/nonexistent/\(identifier)" }
  /// Permits it.
  public func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {}
  /// Keeps the line.
  public func log(_ line: LogLine) { lines.withLock { $0.append(line) } }
}
