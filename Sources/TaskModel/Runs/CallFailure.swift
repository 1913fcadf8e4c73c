/// Why a call from a plugin was not served: the status it gets and the sentence `last_error` has for it.
public struct CallFailure: Error, Sendable, Hashable {
  /// The statuses of the plugin contract that are not OK.
  public enum Status: Int32, Sendable {
    /// An argument is malformed.
    case invalid = -1
    /// Launch is over.
    case launched = -2
    /// The identifier is taken, or this is a second handler.
    case exists = -3
    /// Not in the list of those who may.
    case notPermitted = -4
    /// The run is over, or never was.
    case stale = -5
    /// The run has expired.
    case expired = -6
    /// Over a limit in bytes.
    case tooBig = -7
    /// No such thing.
    case notFound = -8
    /// Not offered.
    case unsupported = -9
    /// A quota or cap is reached.
    case limit = -10
    /// The store cannot be written.
    case unavailable = -11
    /// A defect in the host.
    case `internal` = -12
  }

  /// The status.
  public var status: Status
  /// What was seen and what to do.
  public var message: String

  /// A failure as given.
  public init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }
}

extension CallFailure {
  /// The answer to a handle whose run is over, or that never was.
  public static let stale = CallFailure(.stale, "the run is over, or never was")

  /// The answer to every call of the launch phase after it.
  public static let launchIsOver = CallFailure(.launched, "launch is over: register during taskhost_plugin_launch")
}
