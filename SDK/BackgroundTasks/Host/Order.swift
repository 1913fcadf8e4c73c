import CTaskHost
import Foundation
import TaskHostSDK

struct Order: Sendable {
  /// Whose handler the host is to run.
  let hostIdentifier: String
  let record: RequestRecord
  let conditions: UInt32
  /// Milliseconds since 1970, 0: at once, ``paced``: when the host says.
  let earliestBegin: Int64

  /// The identifier as it was submitted.
  var identifier: String { record.identifier ?? hostIdentifier }

  /// The same request for a host that does not offer its conditions: they are noted in its payload only.
  var withoutConditions: Order {
    var record = record
    record.ignoredConditions = conditions
    return Order(hostIdentifier: hostIdentifier, record: record, conditions: 0, earliestBegin: earliestBegin)
  }

  /// The same request for a host that knows no pace: at once.
  var withoutPace: Order { Order(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: 0) }

  var pending: PendingRequest {
    PendingRequest(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: earliestBegin)
  }

  /// Calls `body` with the request as C sees it, valid during the call.
  ///
  /// - Throws: `EncodingError`, ``TaskHostError`` for an identifier with a NUL byte.
  func withCValue<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) throws -> Result {
    let request = TaskRequest(identifier: hostIdentifier, payload: try record.payload(), conditions: Conditions(rawValue: conditions))
    return try request.withCValue(earliestBegin: earliestBegin, body)
  }

  /// The `earliest_begin_unix_ms` of a request that names no time: on iOS the system decides when, and lets a while pass between runs.
  static let paced = Int64(TASKHOST_BEGIN_PACED)

  /// A date as `earliest_begin_unix_ms` wants it: rounded up, and ``paced`` for none and for one that has come.
  static func milliseconds(_ date: Date?) -> Int64 {
    guard let date, date > Date() else { return paced }
    return date.earliestBeginMilliseconds
  }
}
