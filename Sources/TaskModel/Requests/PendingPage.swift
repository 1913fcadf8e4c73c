/// Some of a plugin's pending requests, in the order of their submission.
///
/// All of them could take 64 MiB, so callers read them in pages. A page has at most ``requestLimit`` requests, and ends once its payloads
/// reach ``payloadLimit`` bytes.
public struct PendingPage: Sendable, Hashable {
  /// The requests, the oldest first.
  public var requests: [PendingRequest]
  /// The next page begins after this request; nil if there is none.
  public var next: RequestID?

  /// Creates a page.
  public init(requests: [PendingRequest] = [], next: RequestID? = nil) {
    self.requests = requests
    self.next = next
  }

  /// Requests of a page.
  public static let requestLimit = 250
  /// A page is full once its payloads have this many bytes; the last payload may exceed it.
  public static let payloadLimit = 256 << 10

  /// A page of waiting requests without the operator's schedules.
  ///
  /// - Parameters:
  ///   - records: The oldest ones after the previous page, at most ``requestLimit``; if there are so many, more may follow.
  ///   - payload: What was submitted with a request.
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
