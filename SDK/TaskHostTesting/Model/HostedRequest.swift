import TaskHostSDK

/// A request in a test host, as it was when you asked.
public struct HostedRequest: Sendable, CustomStringConvertible {
  /// Where a request stands.
  public enum State: String, Sendable {
    /// Waits for another request to end.
    case blocked
    /// Waits for its time.
    case pending
    /// A handler works on it.
    case running
    /// Ended well.
    case succeeded
    /// Ended for good without success.
    case failed
    /// Ended because somebody wished so.
    case cancelled
  }

  /// Its id, the same over all its attempts.
  public let id: String
  /// What was asked for.
  public let submitted: SubmittedRequest
  /// Where it stands.
  public let state: State
  /// The attempt its next run will be, or its last was.
  public let attempt: Int
  /// When it may run next, from the test host's beginning on the virtual clock; negative if that was before.
  public let due: Duration
  /// Where its last run left off.
  public let checkpoint: [UInt8]?
  /// Its runs, in order.
  public let runs: [RunReport]

  /// The task identifier.
  public var identifier: String { submitted.identifier }
  /// What its run is given.
  public var payload: [UInt8] { submitted.payload }
  /// Its last run.
  public var lastRun: RunReport? { runs.last }

  /// The checkpoint, decoded from JSON.
  ///
  /// - Throws: `DecodingError`; ``TestHostError`` when there is none.
  public func checkpoint<Value: Decodable>(as type: Value.Type) throws -> Value {
    guard let checkpoint else { throw TestHostError.nothingThere("the request has no checkpoint") }
    return try TestJSON.decode(type, from: checkpoint)
  }

  /// Its state, what was asked for, and its runs.
  public var description: String {
    let head = "\(state.rawValue), attempt \(attempt), due at \(due): \(submitted)"
    return ([head] + runs.map(\.description)).joined(separator: "\n")
  }
}
