import NIOCore

/// How long the host has been waiting for a client. The timer is in ``ConnectionHandler``.
///
/// The clock stands still while the host is answering: the client's next bytes have time.
struct ConnectionClock {
  private enum Arrival {
    case nothing, head
    case body(received: Int)
  }

  private let patience: ClientPatience
  private var arrival = Arrival.nothing
  /// When ``arrival`` began, or the last answer ended.
  private var since: NIODeadline
  /// Requests whose head has arrived and that are not answered yet.
  private var unanswered = 0
  private var hasAsked = false
  /// When the client stopped reading, and how many bytes were left then; nil while it keeps up.
  private var unread: (since: NIODeadline, bytes: Int)?

  init(_ patience: ClientPatience, at now: NIODeadline) {
    self.patience = patience
    since = now
  }

  /// When to close the connection if nothing changes; nil while the host does not wait for the client.
  var deadline: NIODeadline? { [arrivalDeadline, unread.map { $0.since + patience.unread }].compactMap(\.self).min() }

  /// nil while the host does not wait for the client.
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

  /// The host's own thread was late by `length`: extends the client's time by that and one second.
  mutating func hostWasBusy(_ length: TimeAmount) {
    since = since + length + .seconds(1)
    if let (start, bytes) = unread { unread = (start + length + .seconds(1), bytes) }
  }

  /// Bytes that are not parsed yet.
  mutating func bytesArrived(at now: NIODeadline) {
    guard case .nothing = arrival else { return }
    // The time for the first request runs from the connection.
    if hasAsked { since = now }
    arrival = .head
  }

  mutating func headArrived(at now: NIODeadline) {
    arrival = .body(received: 0)
    since = now
    unanswered += 1
    hasAsked = true
  }

  mutating func bodyArrived(_ bytes: Int) {
    guard case .body(let received) = arrival else { return }
    arrival = .body(received: received + bytes)
  }

  mutating func requestArrived(at now: NIODeadline) {
    arrival = .nothing
    since = now
  }

  mutating func answered(at now: NIODeadline) {
    unanswered = max(0, unanswered - 1)
    since = now
  }

  /// `bytes` wait for a client that does not read; nil once it keeps up again.
  mutating func waitsToBeRead(_ bytes: Int?, at now: NIODeadline) {
    guard let bytes else { return unread = nil }
    // Fewer than before: the client has read some.
    if let unread, bytes >= unread.bytes { return }
    unread = (now, bytes)
  }
}
