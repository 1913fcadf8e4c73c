import Logging
import NIOCore
import Synchronization

/// Counts dropped datagrams of a socket and logs the counts: at once, then at most once a minute.
final class EventSocketTally: Sendable {
  private struct State {
    var counts = EventSocketCounts()
    var saidAt: NIODeadline?
  }

  private let socket: EventSocket
  private let log: Logger
  private let state = Mutex(State())

  private static let quiet = TimeAmount.minutes(1)

  init(_ socket: EventSocket, log: Logger) {
    self.socket = socket
    self.log = log
  }

  var counts: EventSocketCounts { state.withLock { $0.counts } }

  func add(_ count: Int = 1, to kind: WritableKeyPath<EventSocketCounts, UInt64>) {
    let sentences = state.withLock { state in
      state.counts[keyPath: kind] += UInt64(count)
      let now = NIODeadline.now()
      if let last = state.saidAt, now - last < Self.quiet { return [String]() }
      state.saidAt = now
      return state.counts.sentences
    }
    for sentence in sentences { log.warning("event \(socket.event): so far \(sentence)", metadata: ["socket": "\(socket)"]) }
  }
}
