/// What somebody asks for who pauses requests.
public struct PauseOrder: Sendable, Hashable {
  /// Which requests, in the grammar of filters; empty: all.
  public var filter: String
  /// Who asks, in words for people: "anna (user 1000)". At most ``RequestPause/byBytes`` bytes.
  public var by: String
  /// The number of the user who asks; nil if unknown.
  public var user: UInt32?
  /// Why; nil if nobody said. At most ``RequestPause/reasonBytes`` bytes.
  public var reason: String?
  /// When the pause ends by itself, on the calendar; nil: only when somebody ends it.
  public var until: WallTime?
  /// Whether it holds the requests of the whole fleet, and only those. Its filter selects by identifier alone.
  public var isOfFleet: Bool

  /// Creates an order.
  public init(filter: String = "", by: String, user: UInt32? = nil, reason: String? = nil, until: WallTime? = nil, isOfFleet: Bool = false)
  {
    self.filter = filter
    self.by = by
    self.user = user
    self.reason = reason
    self.until = until
    self.isOfFleet = isOfFleet
  }

  /// Refuses texts and times that no host takes. The filter is checked where it is read.
  public func check(now: WallTime) throws(RequestRefusal) {
    try RequestPause(by: by, since: now, reason: reason).check()
    guard let until else { return }
    guard until > now, until <= now + Limits.longestDuration else {
      throw RequestRefusal(.invalid, "until: a time to come, within ten years, is expected", field: "until")
    }
  }
}
