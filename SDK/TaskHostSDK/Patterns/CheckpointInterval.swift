/// How often an iteration records its place: after this many items or this much time, whichever comes first, and whenever it stops.
///
/// Each checkpoint is a durable write, which takes a few milliseconds on a disk. If the process or the machine dies, work after the last
/// checkpoint is repeated.
public struct CheckpointInterval: Sendable, Equatable {
  /// Items, at least 1.
  public var items: Int

  /// Time on the host's clock.
  public var time: Duration

  /// Creates an interval. Default: 100 items or 5 s.
  public init(items: Int = 100, time: Duration = .seconds(5)) {
    self.items = items
    self.time = time
  }
}
