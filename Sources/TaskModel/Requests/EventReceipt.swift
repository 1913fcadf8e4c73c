/// What an event did.
public struct EventReceipt: Sendable, Hashable {
  /// The event's name.
  public var event: String
  /// How many requests it made due.
  public var woken: Int
  /// How many requests it was merged into the wait of: an earlier event of the same burst made them due.
  public var merged: Int
  /// 1 when no request waits for the event, else 0.
  public var dropped: Int
  /// How many requests wait for the event.
  public var waiting: Int

  /// A receipt as given.
  public init(event: String, woken: Int = 0, merged: Int = 0, dropped: Int = 0, waiting: Int = 0) {
    self.event = event
    self.woken = woken
    self.merged = merged
    self.dropped = dropped
    self.waiting = waiting
  }
}
