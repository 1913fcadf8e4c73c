public import CTaskHost

/// Why a test host could not do what a test asked for.
public enum TestHostError: Error, Sendable, CustomStringConvertible {
  /// A plugin did not launch because of its file, registration or settings. The sentence says why.
  case launchRefused(status: taskhost_status, reason: String)
  /// Time could not pass: a handler neither slept on the host's clock nor returned within the watchdog's real time.
  case stuck(String)
  /// The run ended before the awaited condition held.
  case neverHappened(String)
  /// The test asked for something that does not exist: an output, a request, an identifier.
  case nothingThere(String)
  /// The operation is not possible in this state: a run is live, a request has ended.
  case notPossible(String)
  /// The system refused something: a thread, a folder, a socket.
  case system(String)

  /// What was seen and what to do next.
  public var description: String {
    switch self {
    case .launchRefused(let status, let reason): "the launch was refused (\(status)): \(reason)"
    case .stuck(let text), .neverHappened(let text), .nothingThere(let text), .notPossible(let text), .system(let text): text
    }
  }
}
