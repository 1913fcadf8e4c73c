/// A page of a plugin's pending requests, in the order of their submission.
///
/// All requests could take 64 MiB, so callers read them in pages. A page has at most ``requestLimit`` requests, and ends once its payloads
/// reach ``payloadLimit`` bytes.
public struct PendingPage: Sendable, Hashable {
  /// The requests, oldest first.
  public var requests: [PendingRequest]
  /// The request after which the next page begins; nil if there is no next page.
  public var next: RequestID?

  /// Creates a page.
  public init(requests: [PendingRequest] = [], next: RequestID? = nil) {
    self.requests = requests
    self.next = next
  }

  /// The maximum number of requests in a page.
  public static let requestLimit = 250
  /// The bytes of payloads at which a page is full. The last payload may exceed this.
  public static let payloadLimit = 256 << 10

  /// Creates a page of pending requests, without the operator's schedules.
  ///
  /// - Parameters:
  ///   - records: The oldest requests after the previous page, at most ``requestLimit``. If there are exactly that many, another page may
  ///     follow.
  ///   - payload: Reads the submitted payload of a request.
  public init(of records: [RequestRecord], payload: (RequestID) throws -> [UInt8]) rethrows {
    self.init(next: records.count < Self.requestLimit ? nil : records.last?.id)
    var bytes = 0
    for var record in records where !record.request.isSchedule {
      record.request.payload = try payload(record.id)
      bytes += record.request.payload.count
      requests.append(PendingRequest(record))
      guard bytes < Self.payloadLimit else {
        next = record.id
        return
      }
    }
  }
}
