public import TaskModel

/// What putting a request off led to.
public struct SnoozedRecord: Sendable, Hashable {
  /// The request as it is now.
  public var record: RequestRecord
  /// What the operator should know: that its own time is later, that it repeats, …
  public var notes: [String]

  /// A result as given.
  public init(_ record: RequestRecord, notes: [String] = []) {
    self.record = record
    self.notes = notes
  }
}
