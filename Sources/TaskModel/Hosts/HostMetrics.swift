/// A host's figures for monitoring. What is counted is counted since the host's start.
public struct HostMetrics: Sendable, Hashable {
  /// The host's status at the same moment. Of its tasks, it need only have those that have failed.
  public var status: HostStatus
  /// The schedules of each identifier.
  public var schedules: [TaskIdentifier: ScheduleSum]
  /// The runs of each identifier that has had one.
  public var tasks: [TaskIdentifier: TaskMetrics]
  /// How long after its due time a run began. What held it back, constraints or limits, counts too.
  public var startLateness: DurationHistogram
  /// The number of the store's commits; each waits for the disk once.
  public var commits: UInt64
  /// The size of the store's write-ahead log in bytes.
  public var logBytes: Int64
  /// The number of worker processes that were started.
  public var workerStarts: UInt64
  /// The processor time that the host's process has used, without its workers.
  public var processorTime: Duration

  /// What became of notifications, and of the attempts to deliver them.
  public var notifications: [NoticeCount: Int]

  /// Pings of monitors by what became of them: `delivered`, `failed`, `dropped`; empty if no monitor is told anything.
  public var pings: [String: Int]

  /// Spans of traces by what became of them; nil if no collector is configured.
  public var spans: SpanCounts?

  /// Creates metrics.
  public init(
    status: HostStatus, schedules: [TaskIdentifier: ScheduleSum] = [:], tasks: [TaskIdentifier: TaskMetrics] = [:],
    startLateness: DurationHistogram = DurationHistogram(),
    commits: UInt64 = 0, logBytes: Int64 = 0, workerStarts: UInt64 = 0, processorTime: Duration = .zero,
    notifications: [NoticeCount: Int] = [:], pings: [String: Int] = [:], spans: SpanCounts? = nil
  ) {
    self.status = status
    self.schedules = schedules
    self.tasks = tasks
    self.startLateness = startLateness
    self.commits = commits
    self.logBytes = logBytes
    self.workerStarts = workerStarts
    self.processorTime = processorTime
    self.notifications = notifications
    self.pings = pings
    self.spans = spans
  }
}
