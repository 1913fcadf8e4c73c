public import CTaskHost

/// A call to the host that did not succeed.
public struct TaskHostError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong, one of the `TASKHOST_E…` numbers of `taskhost.h`.
  public let status: taskhost_status

  /// The host's sentence about it.
  public let message: String

  /// An error with a status of `taskhost.h` and a sentence.
  public init(status: taskhost_status, message: String) {
    self.status = status
    self.message = message
  }

  /// The status as a case to switch over.
  public var code: Code { Code(status) }

  /// The sentence, followed by the status in parentheses.
  public var description: String {
    message.isEmpty ? "taskhost answered \(code) (\(status)) and gave no reason" : "\(message) (\(code), \(status))"
  }

  /// What went wrong.
  public enum Code: Sendable, Equatable {
    /// An argument is malformed.
    case invalid
    /// Launch is over.
    case launched
    /// The identifier belongs to another plugin, or already has a handler.
    case exists
    /// An identifier that is not permitted.
    case notPermitted
    /// The run is over.
    case stale
    /// The run has expired.
    case expired
    /// Over a limit in bytes.
    case tooBig
    /// No such key, checkpoint or request.
    case notFound
    /// This host does not offer that.
    case unsupported
    /// A quota, cap or rate is used up.
    case limit
    /// The store is full or read-only, or the link to the host is lost.
    case unavailable
    /// A defect in the host.
    case `internal`
    /// A status this SDK does not know.
    case other

    init(_ status: taskhost_status) {
      self =
        switch Int(status) {
        case TASKHOST_EINVAL: .invalid
        case TASKHOST_ELAUNCHED: .launched
        case TASKHOST_EEXISTS: .exists
        case TASKHOST_ENOTPERMITTED: .notPermitted
        case TASKHOST_ESTALE: .stale
        case TASKHOST_EEXPIRED: .expired
        case TASKHOST_ETOOBIG: .tooBig
        case TASKHOST_ENOTFOUND: .notFound
        case TASKHOST_EUNSUPPORTED: .unsupported
        case TASKHOST_ELIMIT: .limit
        case TASKHOST_EUNAVAILABLE: .unavailable
        case TASKHOST_EINTERNAL: .internal
        default: .other
        }
    }
  }
}
