/// How late the work of an identifier may be, as the operator expects it, and how it is.
public struct ObjectiveState: Sendable, Hashable {
  /// The identifier.
  public var identifier: TaskIdentifier
  /// `expect_within`: how long after a success the next one is expected; nil if nothing is.
  public var expectWithin: Duration?
  /// `start_within`: how long after its due time a run must begin; nil if that does not matter.
  public var startWithin: Duration?
  /// When the host first had ``expectWithin`` in its configuration: without a success, the time counts from then, over restarts.
  public var firstSeen: WallTime
  /// When the last successful run ended; nil if none has.
  public var lastSuccess: WallTime?
  /// When a success was expected that has not come; nil if none is missing.
  public var overdueSince: WallTime?
  /// The due time of the request that should have begun by now; nil if there is none.
  public var lateSince: WallTime?

  /// Creates the state of an identifier that is on time.
  public init(_ identifier: TaskIdentifier, expectWithin: Duration?, startWithin: Duration?, firstSeen: WallTime, lastSuccess: WallTime?) {
    self.identifier = identifier
    self.expectWithin = expectWithin
    self.startWithin = startWithin
    self.firstSeen = firstSeen
    self.lastSuccess = lastSuccess
  }

  /// When the next success is expected; nil if none is.
  public var expected: WallTime? { expectWithin.map { (lastSuccess ?? firstSeen) + $0 } }
}
