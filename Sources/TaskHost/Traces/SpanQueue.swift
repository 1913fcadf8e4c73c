import TaskModel

/// Spans that wait for the collector. Bounded: what finds no room is dropped, and counted.
struct SpanQueue {
  /// The most spans that wait.
  static let most = 8192
  /// The most spans of one message.
  static let atOnce = 512

  private var spans: [Span] = []
  private(set) var counts = SpanCounts()

  var isEmpty: Bool { spans.isEmpty }
  /// Whether a message is full.
  var hasFullMessage: Bool { spans.count >= Self.atOnce }

  /// Adds spans; those beyond the limit are dropped, because the collector does not keep up.
  mutating func add(_ new: [Span]) {
    let room = max(0, Self.most - spans.count)
    spans += new.prefix(room)
    counts.dropped += max(0, new.count - room)
  }

  /// The spans of the next message, oldest first.
  mutating func take() -> [Span] {
    let taken = Array(spans.prefix(Self.atOnce))
    spans.removeFirst(taken.count)
    return taken
  }

  /// A collector has taken so many spans, and refused so many.
  mutating func settle(exported: Int, dropped: Int) {
    counts.exported += exported
    counts.dropped += dropped
  }

  /// Gives up what waits.
  mutating func dropAll() {
    counts.dropped += spans.count
    spans = []
  }
}
