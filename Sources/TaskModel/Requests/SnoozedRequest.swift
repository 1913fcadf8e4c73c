/// A request that was put off.
public struct SnoozedRequest: Sendable, Hashable {
  /// The request as it is now.
  public var record: RequestRecord
  /// What the operator should know: that its own time is later, that it repeats, …
  public var notes: [String]

  /// A result as given.
  public init(record: RequestRecord, notes: [String]) {
    self.record = record
    self.notes = notes
  }
}
