/// Measures the work of a run against its ``WorkBudget``, and counts it for the run's record: `taskhost runs show` shows what it was.
///
/// ```swift
/// var meter = task.meter(WorkBudget(bytes: 1_000_000))
/// while meter.reachedLimit() == nil, let file = files.popLast() {
///   meter.spend(items: 1, bytesOut: try upload(file))
/// }
/// return files.isEmpty ? .success : .snooze()
/// ```
///
/// A value for a single task; do not share it. A run may have several: the host adds what they count.
public struct WorkMeter: Sendable {
  /// The limits.
  public let budget: WorkBudget

  /// Items completed so far.
  public private(set) var items = 0

  /// Items given up so far. They count for the budget too.
  public private(set) var failed = 0

  /// Bytes read or received so far.
  public private(set) var bytesIn = 0

  /// Bytes written or sent so far.
  public private(set) var bytesOut = 0

  /// Bytes spent so far, in both directions.
  public var bytes: Int { Self.sum(bytesIn, bytesOut) }

  private let run: RunHandle
  private let margin: Duration
  /// Time spent until `last`, on the host's clock.
  private var elapsed = Duration.zero
  private var last: Int64

  init(_ budget: WorkBudget, _ run: RunHandle) {
    self.budget = budget
    self.run = run
    margin = min(budget.margin, max(run.remaining, .zero) / 4)
    last = run.functions.pointee.now_unix_ms(run.task)
  }

  /// Counts work: items that were completed, items that were given up, and bytes. Negative numbers count as zero. The host adds it to the
  /// run's record at once.
  public mutating func spend(items: Int = 0, failed: Int = 0, bytesIn: Int = 0, bytesOut: Int = 0) {
    self.items = Self.sum(self.items, items)
    self.failed = Self.sum(self.failed, failed)
    self.bytesIn = Self.sum(self.bytesIn, bytesIn)
    self.bytesOut = Self.sum(self.bytesOut, bytesOut)
    run.add(
      WorkCounts(
        completed: UInt64(max(items, 0)), failed: UInt64(max(failed, 0)), bytesIn: UInt64(max(bytesIn, 0)),
        bytesOut: UInt64(max(bytesOut, 0))))
  }

  /// Counts an item that was begun, and neither completed nor given up: a later run begins it again.
  func noteUnfinished() { run.add(WorkCounts(attempted: 1)) }

  /// Returns the limit that has been reached; `nil` if none. It asks the host for the time, which is cheap: call it before every item.
  /// Time counts only forward. When the wall clock is set back, it stands still; when it is set ahead, the work ends early, which costs at
  /// most another run.
  public mutating func reachedLimit() -> WorkLimit? {
    if Task.isCancelled || run.isExpired { return .expired }
    let now = run.functions.pointee.now_unix_ms(run.task)
    if now > last { elapsed += .milliseconds(now - last) }
    last = now
    if run.remaining <= margin { return .margin }
    if let limit = budget.items, Self.sum(items, failed) >= limit { return .items }
    if let limit = budget.bytes, bytes >= limit { return .bytes }
    if let limit = budget.time, elapsed >= limit { return .time }
    return nil
  }

  /// Saturates at the largest number.
  private static func sum(_ total: Int, _ more: Int) -> Int {
    let (sum, overflow) = total.addingReportingOverflow(max(more, 0))
    return overflow ? .max : sum
  }
}

extension TaskContext {
  /// Starts to measure work; time counts from now.
  public func meter(_ budget: WorkBudget) -> WorkMeter { WorkMeter(budget, run) }
}
