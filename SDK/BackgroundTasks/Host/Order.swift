import CTaskHost
import Foundation
import TaskHostSDK

struct Order: Sendable {
  let hostIdentifier: String
  let record: RequestDetails
  let conditions: UInt32
  /// Milliseconds since 1970; 0: at once, ``paced``: at the host's pace.
  let earliestBegin: Int64
  /// How many tokens the run takes of the operator's resources.
  var resources: [String: Int] = [:]

  /// The identifier as it was submitted.
  var identifier: String { record.identifier ?? hostIdentifier }

  /// The same request for a host that lacks its conditions, which only the payload then records.
  var withoutConditions: Order {
    var record = record
    record.ignoredConditions = conditions
    return Order(hostIdentifier: hostIdentifier, record: record, conditions: 0, earliestBegin: earliestBegin, resources: resources)
  }

  /// The same request for a host without a pace: at once.
  var withoutPace: Order {
    Order(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: 0, resources: resources)
  }

  var pending: ListedRequest {
    ListedRequest(hostIdentifier: hostIdentifier, record: record, conditions: conditions, earliestBegin: earliestBegin)
  }

  /// Calls `body` with the request in its C form, valid during the call.
  ///
  /// - Throws: `EncodingError`, ``TaskHostError`` for an identifier with a NUL byte.
  func withCValue<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) throws -> Result {
    var request = TaskRequest(identifier: hostIdentifier, payload: try record.payload(), conditions: Conditions(rawValue: conditions))
    request.resources = resources
    return try request.withCValue(earliestBegin: earliestBegin, body)
  }

  /// The `earliest_begin_unix_ms` of a request without a time: as on iOS, the system decides, and lets time pass between runs.
  static let paced = Int64(TASKHOST_BEGIN_PACED)

  /// A date as `earliest_begin_unix_ms`: rounded up; ``paced`` if it is missing or past.
  static func milliseconds(_ date: Date?) -> Int64 {
    guard let date, date > Date() else { return paced }
    return date.earliestBeginMilliseconds
  }
}
