import CTaskHost
import Foundation
import TaskHostSDK

struct Order: Sendable {
  /// The identifier whose handler the host runs.
  let hostIdentifier: String
  let record: RequestDetails
  let conditions: UInt32
  /// Milliseconds since 1970; 0 means at once, ``paced`` means at the host's pace.
  let earliestBegin: Int64

  /// The identifier as it was submitted.
  var identifier: String { record.identifier ?? hostIdentifier }

  /// The same request for a host that does not offer its conditions: only the payload records them.
  var withoutConditions: Order {
    var record = record
    record.ignoredConditions = conditions
    return Order(hostIdentifier: hostIdentifier, record: record, conditions: 0, earliestBegin: earliestBegin)
  }

  /// The same request for a host without a pace: at once.
  var withoutPace: Order { Order(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: 0) }

  var pending: ListedRequest {
    ListedRequest(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: earliestBegin)
  }

  /// Calls `body` with the request as C sees it, valid during the call.
  ///
  /// - Throws: `EncodingError`, ``TaskHostError`` for an identifier with a NUL byte.
  func withCValue<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) throws -> Result {
    let request = TaskRequest(identifier: hostIdentifier, payload: try record.payload(), conditions: Conditions(rawValue: conditions))
    return try request.withCValue(earliestBegin: earliestBegin, body)
  }

  /// The `earliest_begin_unix_ms` of a request without a time: on iOS the system decides when, and lets time pass between runs.
  static let paced = Int64(TASKHOST_BEGIN_PACED)

  /// A date for `earliest_begin_unix_ms`: rounded up; ``paced`` if there is none or it has passed.
  static func milliseconds(_ date: Date?) -> Int64 {
    guard let date, date > Date() else { return paced }
    return date.earliestBeginMilliseconds
  }
}
