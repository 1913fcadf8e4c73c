/// What the store remembers about the runs of one schedule. A schedule is a unique key, a repeating request without one, or all other
/// requests of an identifier. The store never forgets the record, and keeps its last run and its last success regardless of the history's
/// limits.
public struct ScheduleRecord: Sendable, Hashable {
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// The unique key; nil for a schedule without one.
  public var key: String?
  /// The live request that holds the key, or that repeats; nil if there is none.
  public var request: RequestRecord?
  /// The last run, without output, log and trouble; nil if the schedule never ran.
  public var lastRun: RunRecord?
  /// When the last successful run ended; nil if none has.
  public var lastSuccess: WallTime?
  /// The number of failed runs since the last success. Runs that neither failed nor succeeded do not count.
  public var failures: Int
  /// When the first of these failures ended; nil if there are none.
  public var failingSince: WallTime?

  /// Creates a record; by default for a schedule that never ran.
  public init(
    identifier: TaskIdentifier, key: String? = nil, request: RequestRecord? = nil, lastRun: RunRecord? = nil, lastSuccess: WallTime? = nil,
    failures: Int = 0, failingSince: WallTime? = nil
  ) {
    self.identifier = identifier
    self.key = key
    self.request = request
    self.lastRun = lastRun
    self.lastSuccess = lastSuccess
    self.failures = failures
    self.failingSince = failingSince
  }

  /// The schedule's name: its name in the configuration if it comes from there, otherwise `IDENTIFIER/KEY`, or the identifier if it has no key.
  public var name: String {
    if let name = ScheduleName(key: key, of: identifier) { return name.description }
    return key.map { "\(identifier)/\($0)" } ?? identifier.rawValue
  }

  /// How many unique keys of an identifier a store remembers at least, once no request has them any more.
  package static let keysKept = 1000

  /// Records in the order of listings. It moves each once: a record is large.
  public static func listed(_ records: [ScheduleRecord]) -> [ScheduleRecord] {
    records.indices.sorted { isListedBefore(records[$0], records[$1]) }.map { records[$0] }
  }

  private static func isListedBefore(_ left: ScheduleRecord, _ right: ScheduleRecord) -> Bool {
    guard left.identifier == right.identifier else { return left.identifier < right.identifier }
    switch (left.key, right.key) {
    case (let left?, let right?): return left.utf8.lexicographicallyPrecedes(right.utf8)
    case (nil, nil): return (left.request?.id.sequence ?? .max) < (right.request?.id.sequence ?? .max)
    case (let key, _): return key != nil
    }
  }

  /// The number of consecutive failed runs at which a schedule is reported.
  public static let failuresToReport = 3

  /// Whether a person should look: the last occurrence failed and nothing will retry it, or too many consecutive runs failed. Only for
  /// schedules that run again; a request that failed permanently is a dead letter.
  public var isFailing: Bool {
    guard let request, !request.state.isFinal, failures > 0 else { return false }
    let hasGivenUp = request.isRepeating && request.attemptsSpent == 0 && lastRun?.outcome?.isFailure == true
    return hasGivenUp || failures >= Self.failuresToReport
  }
}
