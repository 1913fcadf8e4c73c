/// An operator's pause: what its filter selects does not begin until it ends, whether it was submitted before or later. Live runs continue.
///
/// Pauses survive restarts. Several may hold one request, which begins once all of them have ended. ``RequestPause`` holds a single request.
public struct Pause: Sendable, Hashable {
  /// The number of the pause.
  public let id: PauseID
  /// What was asked for.
  public let order: PauseOrder
  /// Since when.
  public let since: WallTime

  /// Creates a pause.
  public init(id: PauseID, order: PauseOrder, since: WallTime) {
    self.id = id
    self.order = order
    self.since = since
  }

  /// What it holds, for sentences: `everything`, or the filter, and whether that is of the whole fleet.
  public var subject: String { (order.filter.isEmpty ? "everything" : order.filter) + (order.isOfFleet ? " in the fleet" : "") }

  /// The command that ends it.
  public var remedy: String { "taskhost resume \(id)" }

  /// Whether it holds requests at `now`.
  public func isInForce(at now: WallTime) -> Bool { order.until.map { now < $0 } ?? true }
}
