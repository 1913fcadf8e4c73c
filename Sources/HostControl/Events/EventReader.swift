import NIOCore
import StrictText
import TaskModel

/// A reader of the stream; it leaves with ``stop()``, or with its last reference.
final class EventReader: Sendable {
  /// What a reader is told.
  enum Kind: Sendable {
    /// Every event.
    case events
    /// That there were events since it was told last.
    case changes
  }

  private let number: Int
  private let kind: Kind
  private let backlog: EventBacklog

  init(number: Int, kind: Kind, backlog: EventBacklog) {
    self.number = number
    self.kind = kind
    self.backlog = backlog
  }

  deinit { stop() }

  /// Calls `wake`, on any thread, when there are events or the stream has ended: once until ``take()`` has returned nil.
  func begin(_ wake: @escaping @Sendable () -> Void) { backlog.begin(number, wake) }

  /// How long events are collected now before they are sent together.
  var interval: Duration { kind == .changes ? .milliseconds(250) : .milliseconds(20) * backlog.patience }

  /// Whether one portion tells of everything until then: what happens while it is sent is for the next interval.
  var saysAllAtOnce: Bool { kind == .changes }

  /// Whether no further events come.
  var hasEnded: Bool { backlog.hasEnded(number) }

  /// Leaves the backlog.
  func stop() { backlog.leave(number) }

  /// The next portion of events as server-sent events; nil if there are none now.
  func take() -> ByteBuffer? {
    if kind == .changes { return backlog.takeAll(number) ? ByteBuffer(string: "event: change\ndata:\n\n") : nil }
    switch backlog.take(number) {
    case .nothing: return nil
    case .text(let text): return text
    case .deliveries(let deliveries, let incarnation, let range):
      var text = ByteBuffer()
      for delivery in deliveries {
        switch delivery {
        case .event(let number, let event): text.writeBytes(event.text(as: EventID(incarnation: incarnation, sequence: number)))
        case .missed(let count, let next): text.writeBytes(Self.missed(count, next: next, incarnation))
        }
      }
      if let range { backlog.share(text, of: range, incarnation: incarnation) }
      return text
    }
  }

  /// `{"count": 12, "next": "0f3c…-43"}`; without `count` if the number is unknown.
  private static func missed(_ count: UInt64?, next: UInt64, _ incarnation: UInt64) -> [UInt8] {
    let data = JSONWriter.object {
      $0.member("count", count)
      $0.member("next", EventID(incarnation: incarnation, sequence: next).description)
    }
    let last = EventID(incarnation: incarnation, sequence: next - 1)
    return Array("id: \(last)\nevent: missed\ndata: ".utf8) + data + Array("\n\n".utf8)
  }
}
