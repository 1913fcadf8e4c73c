/// What a run has done so far, as its handler counts it. Sums stop at the largest number.
public struct RunWork: Sendable, Hashable {
  /// Items that the handler began, whatever became of them; at least `itemsCompleted` and `itemsFailed` together.
  public private(set) var itemsAttempted: UInt64
  /// Items that it completed.
  public private(set) var itemsCompleted: UInt64
  /// Items that it gave up.
  public private(set) var itemsFailed: UInt64
  /// Bytes that it read or received.
  public private(set) var bytesIn: UInt64
  /// Bytes that it wrote or sent.
  public private(set) var bytesOut: UInt64

  /// Creates counts. `itemsAttempted` is raised to the completed and failed items together.
  public init(
    itemsAttempted: UInt64 = 0, itemsCompleted: UInt64 = 0, itemsFailed: UInt64 = 0, bytesIn: UInt64 = 0, bytesOut: UInt64 = 0
  ) {
    self.itemsAttempted = max(itemsAttempted, itemsCompleted.adding(saturating: itemsFailed))
    self.itemsCompleted = itemsCompleted
    self.itemsFailed = itemsFailed
    self.bytesIn = bytesIn
    self.bytesOut = bytesOut
  }

  /// The counts of both together.
  public func adding(_ other: RunWork) -> RunWork {
    RunWork(
      itemsAttempted: itemsAttempted.adding(saturating: other.itemsAttempted),
      itemsCompleted: itemsCompleted.adding(saturating: other.itemsCompleted),
      itemsFailed: itemsFailed.adding(saturating: other.itemsFailed), bytesIn: bytesIn.adding(saturating: other.bytesIn),
      bytesOut: bytesOut.adding(saturating: other.bytesOut))
  }
}
