public import CTaskHost

/// Why a test host could not do what a test asked for.
public enum TestHostError: Error, Sendable, CustomStringConvertible {
  /// A plugin did not launch: its file, its registration, its settings. The sentence says why.
  case launchRefused(status: taskhost_status, reason: String)
  /// Time could not pass: a handler was neither asleep on the host's clock nor done for the real time that the watchdog allows.
  case stuck(String)
  /// The run ended before what was waited for.
  case neverHappened(String)
  /// What was asked for is not there: no output, no such request, no such identifier.
  case nothingThere(String)
  /// It cannot be done now: a run is live, a request has ended.
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
