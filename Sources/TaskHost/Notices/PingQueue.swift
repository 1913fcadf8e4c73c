/// The pings that wait to be sent. Bounded. Those of one URL are sent one after the other, in their order.
struct PingQueue {
  /// What a monitor is told.
  struct Entry: Equatable {
    let url: String
    /// What is told: `start`, `success` or `fail`.
    let signal: String
    /// The run's id.
    let run: String
    /// What the run says, for people.
    var message = ""
  }

  /// The most pings that wait.
  static let most = 256

  private var waiting: [Entry] = []
  private var busy: Set<String> = []
  /// The pings that were given up because too many waited.
  private(set) var dropped = 0

  mutating func add(_ entry: Entry) {
    waiting.append(entry)
    guard waiting.count > Self.most else { return }
    dropped += 1
    // A begin says least: the end follows.
    waiting.remove(at: waiting.firstIndex { $0.signal == "start" } ?? 0)
  }

  /// The next one to send, if its URL is not being asked; ``finish(_:)`` follows.
  mutating func next() -> Entry? {
    guard let place = waiting.firstIndex(where: { !busy.contains($0.url) }) else { return nil }
    busy.insert(waiting[place].url)
    return waiting.remove(at: place)
  }

  /// Notes that a ping was sent, or given up.
  mutating func finish(_ entry: Entry) { busy.remove(entry.url) }
}
