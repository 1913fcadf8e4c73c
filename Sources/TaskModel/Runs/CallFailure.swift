/// Why the host refused a plugin's call: the returned status, and the sentence for `last_error`.
public struct CallFailure: Error, Sendable, Hashable {
  /// The plugin contract's statuses other than OK.
  public enum Status: Int32, Sendable {
    /// An argument is malformed.
    case invalid = -1
    /// Launch is over.
    case launched = -2
    /// The identifier is taken or already has a handler.
    case exists = -3
    /// The configuration does not permit it.
    case notPermitted = -4
    /// The run is over or never existed.
    case stale = -5
    /// The run has expired.
    case expired = -6
    /// The value exceeds a limit in bytes.
    case tooBig = -7
    /// The object does not exist.
    case notFound = -8
    /// The host does not offer the function.
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
  /// What happened and what to do.
  public var message: String

  /// Creates a failure.
  public init(_ status: Status, _ message: String) {
    self.status = status
    self.message = message
  }

  /// Converts a refusal for a plugin.
  public init(_ refusal: RequestRefusal) {
    let status: Status =
      switch refusal.code {
      case .invalid, .forbidden: .invalid
      case .unknownIdentifier, .notFound: .notFound
      case .conflict: refusal.isOfStaleRun ? .stale : .invalid
      case .tooBig: .tooBig
      case .limit: .limit
      case .unsupported: .unsupported
      case .unavailable: .unavailable
      case .internal: .internal
      }
    self.init(status, refusal.message)
  }
}

extension CallFailure {
  /// The answer to a handle whose run is over or never existed.
  public static let stale = CallFailure(.stale, "the run is over or never existed")

  /// The answer to launch-phase calls after launch.
  public static let launchIsOver = CallFailure(.launched, "launch is over: register during taskhost_plugin_launch")
}
