/// Work that a run has done, for its record.
///
/// The host adds what a run counts: `taskhost runs show` and `taskhost status` show the sums. A ``WorkMeter`` counts by itself.
public struct WorkCounts: Sendable, Equatable {
  /// Items begun, whatever became of them. The host records at least the completed and failed ones together.
  public var attempted: UInt64
  /// Items done.
  public var completed: UInt64
  /// Items given up.
  public var failed: UInt64
  /// Bytes read or received.
  public var bytesIn: UInt64
  /// Bytes written or sent.
  public var bytesOut: UInt64

  /// Creates counts; omitted ones are zero.
  public init(attempted: UInt64 = 0, completed: UInt64 = 0, failed: UInt64 = 0, bytesIn: UInt64 = 0, bytesOut: UInt64 = 0) {
    self.attempted = attempted
    self.completed = completed
    self.failed = failed
    self.bytesIn = bytesIn
    self.bytesOut = bytesOut
  }
}
