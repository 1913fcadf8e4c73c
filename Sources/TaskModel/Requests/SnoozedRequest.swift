/// A request that was postponed.
public struct SnoozedRequest: Sendable, Hashable {
  /// The request after the change.
  public var record: RequestRecord
  /// Notes for the operator: the request's own time is later, it repeats, …
  public var notes: [String]

  /// Creates a result.
  public init(record: RequestRecord, notes: [String]) {
    self.record = record
    self.notes = notes
  }
}
