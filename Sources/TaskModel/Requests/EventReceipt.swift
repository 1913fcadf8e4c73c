/// The effect of an event.
public struct EventReceipt: Sendable, Hashable {
  /// The name of the event.
  public var event: String
  /// The number of requests that the event made due.
  public var woken: Int
  /// The number of requests that already wait for the debounce of an earlier event of the same burst. This event was merged into that wait.
  public var merged: Int
  /// 1 if no request waits for the event, otherwise 0.
  public var dropped: Int
  /// The number of requests that wait for the event.
  public var waiting: Int

  /// Creates a receipt.
  public init(event: String, woken: Int = 0, merged: Int = 0, dropped: Int = 0, waiting: Int = 0) {
    self.event = event
    self.woken = woken
    self.merged = merged
    self.dropped = dropped
    self.waiting = waiting
  }
}
