/// Measures the work of a run against its ``WorkBudget``.
///
/// ```swift
/// var meter = task.meter(WorkBudget(bytes: 1_000_000))
/// while meter.reachedLimit() == nil, let file = files.popLast() {
///   meter.spend(items: 1, bytes: try upload(file))
/// }
/// return files.isEmpty ? .success : .snooze()
/// ```
///
/// A value for a single task; do not share it.
public struct WorkMeter: Sendable {
  /// The limits.
  public let budget: WorkBudget

  /// Items done so far.
  public private(set) var items = 0

  /// Bytes spent so far.
  public private(set) var bytes = 0

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

  /// Counts completed work. Negative numbers count as zero.
  public mutating func spend(items: Int = 0, bytes: Int = 0) {
    self.items = Self.sum(self.items, items)
    self.bytes = Self.sum(self.bytes, bytes)
  }

  /// Returns the limit that has been reached; `nil` if none. It asks the host for the time, which is cheap: call it before every item.
  /// Time counts only forward. When the wall clock is set back, it stands still; when it is set ahead, the work ends early, which costs at
  /// most another run.
  /// most another run.
  public mutating func reachedLimit() -> WorkLimit? {
    if Task.isCancelled || run.isExpired { return .expired }
    let now = run.functions.pointee.now_unix_ms(run.task)
    if now > last { elapsed += .milliseconds(now - last) }
    last = now
    if run.remaining <= margin { return .margin }
    if let limit = budget.items, items >= limit { return .items }
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
