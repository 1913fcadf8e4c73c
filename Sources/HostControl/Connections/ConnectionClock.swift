import NIOCore

/// Since when, and for how long, the host waits for a client. A value; ``ConnectionHandler`` has the timer.
///
/// Nothing is counted while the host is the slower one: while it answers, what arrives of further requests has time.
struct ConnectionClock {
  private enum Arrival {
    case nothing, head
    case body(received: Int)
  }

  private let patience: ClientPatience
  private var arrival = Arrival.nothing
  /// When ``arrival`` began, or the last answer ended.
  private var since: NIODeadline
  /// Requests whose head has arrived and whose answer has not been written.
  private var unanswered = 0
  private var hasAsked = false
  /// Since when the client takes nothing, and the bytes that were left then; nil: it keeps up.
  private var unread: (since: NIODeadline, bytes: Int)?

  init(_ patience: ClientPatience, at now: NIODeadline) {
    self.patience = patience
    since = now
  }

  /// When the connection is to be closed as things stand; nil: the host does not wait for the client.
  var deadline: NIODeadline? { [arrivalDeadline, unread.map { $0.since + patience.unread }].compactMap(\.self).min() }

  /// Since when the host waits for the client; nil: it does not.
  var waitingSince: NIODeadline? { [arrivalDeadline == nil ? nil : since, unread?.since].compactMap(\.self).min() }

  private var arrivalDeadline: NIODeadline? {
    switch arrival {
    case .nothing where unanswered == 0: since + (hasAsked ? patience.idle : patience.head)
    case .head where unanswered == 0: since + patience.head
    case .body(let received) where unanswered <= 1:
      since + min(patience.body.most, patience.body.first + .seconds(Int64(received / max(1, patience.bodyBytesPerSecond))))
    default: nil
    }
  }

  /// The host itself was busy for so long that it could not look: the client is given that time, and a second to be looked at.
  mutating func hostWasBusy(_ length: TimeAmount) {
    since = since + length + .seconds(1)
    if let (start, bytes) = unread { unread = (start + length + .seconds(1), bytes) }
  }

  /// Bytes have arrived that are not parsed yet.
  mutating func bytesArrived(at now: NIODeadline) {
    guard case .nothing = arrival else { return }
    // The first request's time runs since the connection was made.
    if hasAsked { since = now }
    arrival = .head
  }

  /// A request's head has arrived as a whole.
  mutating func headArrived(at now: NIODeadline) {
    arrival = .body(received: 0)
    since = now
    unanswered += 1
    hasAsked = true
  }

  /// Part of its body has arrived.
  mutating func bodyArrived(_ bytes: Int) {
    guard case .body(let received) = arrival else { return }
    arrival = .body(received: received + bytes)
  }

  /// A request has arrived as a whole.
  mutating func requestArrived(at now: NIODeadline) {
    arrival = .nothing
    since = now
  }

  /// An answer has been written.
  mutating func answered(at now: NIODeadline) {
    unanswered = max(0, unanswered - 1)
    since = now
  }

  /// The client takes nothing, and so many bytes wait for it; nil: it keeps up again.
  mutating func waitsToBeRead(_ bytes: Int?, at now: NIODeadline) {
    guard let bytes else { return unread = nil }
    // Fewer than before: it has taken some.
    if let unread, bytes >= unread.bytes { return }
    unread = (now, bytes)
  }
}
