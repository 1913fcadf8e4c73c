/// Some of a plugin's pending requests, in the order of their submission.
///
/// All of them could be 64 MiB, so they are asked for a page at a time: at most ``requestLimit`` requests, and no further one once their
/// payloads have ``payloadLimit`` bytes together.
public struct PendingPage: Sendable, Hashable {
  /// The requests, the oldest first.
  public var requests: [PendingRequest]
  /// The next page begins after this request; nil: there is none.
  public var next: RequestID?

  /// A page as given.
  public init(requests: [PendingRequest] = [], next: RequestID? = nil) {
    self.requests = requests
    self.next = next
  }

  /// Requests of a page.
  public static let requestLimit = 250
  /// Bytes of payloads with which a page is full: it has at most that many and one payload more.
  public static let payloadLimit = 256 << 10
}
