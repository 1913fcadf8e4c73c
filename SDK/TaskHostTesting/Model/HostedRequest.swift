import TaskHostSDK

/// A snapshot of a request in a test host.
public struct HostedRequest: Sendable, CustomStringConvertible {
  /// The state of a request.
  public enum State: String, Sendable {
    /// Waits for another request to end.
    case blocked
    /// Waits for its run.
    case pending
    /// Its handler runs.
    case running
    /// Ended with success.
    case succeeded
    /// Ended for good without success.
    case failed
    /// Ended because somebody cancelled it.
    case cancelled
  }

  /// The request's id, the same for all its attempts.
  public let id: String
  /// The request as it was submitted.
  public let submitted: SubmittedRequest
  /// Its state.
  public let state: State
  /// The attempt of its next run, or of its last run once it has ended.
  public let attempt: Int
  /// When it may run next, in virtual time since the test host began; negative if it was due before.
  public let due: Duration
  /// Its last checkpoint.
  public let checkpoint: [UInt8]?
  /// Its runs, in order.
  public let runs: [RunReport]

  /// The task identifier.
  public var identifier: String { submitted.identifier }
  /// The payload for the handler.
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

  /// The state, the submitted request, and the runs.
  public var description: String {
    let head = "\(state.rawValue), attempt \(attempt), due at \(due): \(submitted)"
    return ([head] + runs.map(\.description)).joined(separator: "\n")
  }
}
