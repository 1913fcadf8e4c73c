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

  /// For the host to fill in.
  package static var emptyCValue: taskhost_submission {
    var submission = taskhost_submission()
    submission.struct_size = UInt32(MemoryLayout<taskhost_submission>.size)
    return submission
  }

  /// The effect of a submission.
  public enum Disposition: Sendable, Equatable {
    /// The request is new.
    case created
    /// The holder of the unique key was kept.
    case kept
    /// The request replaced the holder, which was cancelled.
    case replaced
    /// The holder got the request's fields.
    case updated
    /// The request runs after the holder.
    case appended
    /// An effect unknown to this SDK, with its number in `taskhost.h`.
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
