public import TaskModel

/// A part of a bulk action: what to do to the requests that match a filter.
public struct BulkOrder: Sendable {
  /// Which requests.
  public private(set) var filter: RequestFilter
  /// What to do to them.
  public let action: BulkAction
  /// Until when to postpone; nil for other actions.
  public let until: WallTime?
  /// Whether to count only.
  public let isDry: Bool
  /// The request after which this part of the action begins; nil begins with the first request.
  public let after: RequestID?
  /// The maximum number of requests in this part.
  public let limit: Int

  /// The most requests in one part.
  public static let largest = 10_000
  /// The requests that one turn of the scheduler handles, so that runs do not wait for long.
  public static let atOnce = 100

  /// Refuses a filter that selects everything, and one whose states the action does not fit.
  public init(
    _ action: BulkAction, _ filter: RequestFilter, until: WallTime? = nil, isDry: Bool = false, after: RequestID? = nil, limit: Int
  ) throws(RequestRefusal) {
    guard !filter.selectsAll else {
      throw RequestRefusal(
        .invalid, "filter: is empty, so every request is meant: write what to \(action.rawValue), such as identifier:*", field: "filter")
    }
    let wanted = filter.scan.states
    guard wanted.isEmpty || !wanted.allSatisfy({ !action.states.contains($0) }) else {
      let names = action.states.filter { $0 != .claimed }.map(\.rawValue).joined(separator: ", ")
      throw RequestRefusal(
        .invalid, "filter: \(action.rawValue) is only for requests in one of the states \(names), and the filter selects others",
        field: "filter")
    }
    guard (action == .snooze) == (until != nil) else {
      throw RequestRefusal(
        .invalid, action == .snooze ? "delay_ms: is missing: say for how long" : "delay_ms: is only for snooze: leave it out",
        field: "delay_ms")
    }
    (self.action, self.filter, self.until, self.isDry, self.after) = (action, filter, until, isDry, after)
    self.limit = min(max(1, limit), Self.largest)
  }

  /// The same order for what one of the patterns covers; nil if that is nothing.
  public func narrowed(to patterns: [IdentifierPattern]) -> BulkOrder? {
    guard let filter = filter.narrowed(to: patterns) else { return nil }
    var order = self
    order.filter = filter
    return order
  }

  /// What a store searches for this part.
  public var scan: RequestScan {
    var scan = filter.scan
    scan.states = scan.states.isEmpty ? action.states : scan.states.filter(action.states.contains)
    (scan.oldestFirst, scan.after, scan.limit) = (action.goesOldestFirst, after, limit)
    return scan
  }

  /// Whether the action is for a request as it is now. If the filter asks for it, the record must have its payload.
  public func isFor(_ record: RequestRecord) -> Bool {
    action.states.contains(record.state) && record.stopRequested == nil && filter.accepts(record)
  }
}
