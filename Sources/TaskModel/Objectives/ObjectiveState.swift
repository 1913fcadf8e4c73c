/// How late the work of an identifier may be, as the operator expects it, and how it is.
public struct ObjectiveState: Sendable, Hashable {
  /// The identifier.
  public var identifier: TaskIdentifier
  /// `expect_within`: how long after a success the next one is expected; nil if nothing is.
  public var expectWithin: Duration?
  /// `start_within`: how long after its due time a run must begin; nil if that does not matter.
  public var startWithin: Duration?
  /// The earliest moment from which the time counts, over restarts: when the host first had ``expectWithin`` in its configuration, or when the
  /// last pause of the identifier ended.
  public var countsFrom: WallTime
  /// When the last pause of the identifier ended; nil if that was before the host started.
  public var resumed: WallTime?
  /// When the last successful run ended; nil if none has.
  public var lastSuccess: WallTime?
  /// When a success was expected that has not come; nil if none is missing.
  public var overdueSince: WallTime?
  /// The due time of the request that should have begun by now; nil if there is none.
  public var lateSince: WallTime?

  /// Creates the state of an identifier that is on time.
  public init(_ identifier: TaskIdentifier, expectWithin: Duration?, startWithin: Duration?, countsFrom: WallTime, lastSuccess: WallTime?) {
    self.identifier = identifier
    self.expectWithin = expectWithin
    self.startWithin = startWithin
    self.countsFrom = countsFrom
    self.lastSuccess = lastSuccess
  }

  /// When a request that is due at a time is late if it has not begun; nil if that does not matter.
  public func late(dueAt due: WallTime) -> WallTime? { startWithin.map { max(due, resumed ?? due) + $0 } }

  /// When the next success is expected; nil if none is.
  public var expected: WallTime? { expectWithin.map { max(lastSuccess ?? countsFrom, countsFrom) + $0 } }
}
