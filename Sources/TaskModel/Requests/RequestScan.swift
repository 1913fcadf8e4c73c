/// What a store searches for a filter, and how far it goes at once.
public struct RequestScan: Sendable, Hashable {
  /// Only those in one of these states; empty: all.
  public var states: [RequestState] = []
  /// Only those of an identifier that one of these covers; empty: all.
  public var identifiers: [IdentifierPattern] = []
  /// Only those whose id begins so.
  public var id: RecordIDPrefix?
  /// Of each list, the request must have a tag.
  public var tags: [[String]] = []
  /// Only those submitted at this time or later.
  public var since: WallTime?
  /// Only those submitted before this time.
  public var until: WallTime?
  /// Whether records come with their payload.
  public var readsPayload = false
  /// Whether the oldest comes first; otherwise the newest.
  public var oldestFirst = false
  /// Only those that follow this one in the order.
  public var after: RequestID?
  /// The maximum number of results, from 1.
  public var limit = 100

  /// Selects all requests, newest first, up to 100.
  public init() {}

  /// Selects what a query does that asks neither for a time nor for events.
  public init(_ query: RequestQuery) {
    states = query.states
    identifiers = query.identifier.map { [IdentifierPattern($0)] } ?? []
    tags = query.tag.map { [[$0]] } ?? []
    (after, limit) = (query.after, query.limit)
  }

  /// The number of rows that a store looks at before it gives what it has, so that an answer takes milliseconds however large the store is.
  public static let rows = 20_000
  /// The same for the records among them that match the states and identifiers, but are not accepted.
  public static let rejected = 1000
  /// The same for the bytes of their payloads.
  public static let payloadBytes = 1 << 20

  /// Whether a request matches, apart from limits and cursors.
  public func covers(_ record: RequestRecord) -> Bool {
    if !states.isEmpty, !states.contains(record.state) { return false }
    if !identifiers.isEmpty, !identifiers.contains(where: { $0.matches(record.request.identifier) }) { return false }
    if let id, !id.matches(record.id) { return false }
    if let since, record.submitted < since { return false }
    if let until, record.submitted >= until { return false }
    return tags.allSatisfy { names in record.request.tags.contains { tag in names.contains { $0.utf8.elementsEqual(tag.utf8) } } }
  }
}

/// Requests that a store has found for a filter.
public struct ScannedRequests: Sendable, Hashable {
  /// The requests, in the order of the scan.
  public var records: [RequestRecord] = []
  /// The last request that the store has looked at: there may be more after it. Nil if there are none.
  ///
  /// A store may find nothing, and still not be at the end.
  public var next: RequestID?

  /// Starts empty.
  public init() {}
}
