public import CTaskHost

/// A failed call to the host.
public struct TaskHostError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The cause, one of the `TASKHOST_E…` numbers of `taskhost.h`.
  public let status: taskhost_status

  /// The host's sentence about the error.
  public let message: String

  /// Creates an error with a status of `taskhost.h` and a sentence.
  public init(status: taskhost_status, message: String) {
    self.status = status
    self.message = message
  }

  /// The status as an enumeration.
  public var code: Code { Code(status) }

  /// The sentence, followed by the status in parentheses.
  public var description: String {
    message.isEmpty ? "taskhost answered \(code) (\(status)) and gave no reason" : "\(message) (\(code), \(status))"
  }

  /// The cause of the error.
  public enum Code: Sendable, Equatable {
    /// An argument is malformed.
    case invalid
    /// Launch is over.
    case launched
    /// The identifier belongs to another plugin, or already has a handler.
    case exists
    /// The identifier is not permitted.
    case notPermitted
    /// The run is over.
    case stale
    /// The run has expired.
    case expired
    /// A size limit in bytes was exceeded.
    case tooBig
    /// The key, checkpoint or request does not exist.
    case notFound
    /// This host does not offer the function.
    case unsupported
    /// A quota, cap or rate is used up.
    case limit
    /// The store is full or read-only, or the link to the host is lost.
    case unavailable
    /// A defect in the host.
    case `internal`
    /// A status unknown to this SDK.
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
