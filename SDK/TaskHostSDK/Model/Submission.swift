package import CTaskHost
public import FoundationEssentials

/// What a submission did.
public struct Submission: Sendable, Equatable {
  /// The request's id; the holder's id if the holder was kept or updated.
  public let requestID: String

  /// The effect on the request.
  public let disposition: Disposition

  /// The effective earliest start, on the host's clock.
  public let nextStart: Date

  package init(_ cValue: taskhost_submission) {
    requestID = withUnsafeBytes(of: cValue.request_id) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    disposition = Disposition(cValue: cValue.disposition)
    nextStart = Date(unixMilliseconds: cValue.next_start_unix_ms)
  }

  /// What the host is given to fill in.
  package static var emptyCValue: taskhost_submission {
    var submission = taskhost_submission()
    submission.struct_size = UInt32(MemoryLayout<taskhost_submission>.size)
    return submission
  }

  /// The effect of a submission.
  public enum Disposition: Sendable, Equatable {
    /// It is a new request.
    case created
    /// The holder of its unique key was kept.
    case kept
    /// The holder was cancelled for it.
    case replaced
    /// The holder was given its fields.
    case updated
    /// It runs after the holder.
    case appended
    /// Something this SDK does not know, with its number in `taskhost.h`.
    case other(UInt32)

    init(cValue: UInt32) {
      self =
        switch Int(cValue) {
        case TASKHOST_CREATED: .created
        case TASKHOST_KEPT: .kept
        case TASKHOST_REPLACED: .replaced
        case TASKHOST_UPDATED: .updated
        case TASKHOST_APPENDED: .appended
        default: .other(cValue)
        }
    }
  }
}
