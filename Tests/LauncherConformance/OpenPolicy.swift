import Synchronization
public import TaskModel

/// A launch policy that permits all but what it is told, and keeps what is logged.
public final class OpenPolicy: LaunchPolicy {
  private let refusal: CallFailure?
  private let pending: [PendingRequest]
  private let lines = Mutex<[LogLine]>([])

  /// - Parameters:
  ///   - refusal: What every identifier is answered; nil: it is permitted.
  ///   - pending: The requests that are pending from before the launch.
  public init(refusal: CallFailure? = nil, pending: [PendingRequest] = []) {
    self.refusal = refusal
    self.pending = pending
  }

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
  /// Those of them that are the identifiers', by the limits of a page.
  public func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage {
    PendingPage(of: pending.filter { identifiers.contains($0.identifier) }, after: request)
  }
  /// Everything.
  public func entitlement(to path: String) -> PathEntitlement { [.read, .write] }
  /// Seven of every resource whose name is not empty.
  public func resourceTokens(_ name: String) -> Int { 7 }
  /// Keeps the line.
  public func log(_ line: LogLine) { lines.withLock { $0.append(line) } }
}
