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
}
