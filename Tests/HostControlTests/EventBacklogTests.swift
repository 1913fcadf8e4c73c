import NIOCore
import StrictText
import Synchronization
import TaskModel
import Testing

@testable import HostControl

@Suite("Events that are held for readers") struct EventBacklogTests {
  private static func event(_ request: Int64, bytes: Int = 100) -> HostEvent {
    let line = LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: String(repeating: "x", count: bytes))
    guard let identifier = try? TaskIdentifier("a") else { preconditionFailure("\"a\" is not an identifier") }
    let run = RunReference(
      run: RunID(sequence: 1, origin: 1), request: RequestID(sequence: request, origin: 1), identifier: identifier)
    return .log(run, line)
  }

  private static func backlog(
    linger: Duration = .seconds(3600), interest: @escaping @Sendable (Bool) -> Void = { _ in }
  ) -> EventBacklog { EventBacklog(linger: linger) { interest($0 != nil) } }

  /// A server-sent event.
  struct Told: Equatable {
    var id = ""
    var name = ""
    var data = ""
  }

  /// Everything that a reader is sent now.
  private static func all(_ reader: EventReader) -> [Told] {
    var bytes: [UInt8] = []
    while let part = reader.take() { bytes += Array(part.readableBytesView) }
    return told(bytes)
  }

  private static func told(_ bytes: [UInt8]) -> [Told] {
    String(decoding: bytes, as: UTF8.self).split(separator: "\n\n").map { text in
      var told = Told()
      for line in text.split(separator: "\n") {
        let halves = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        switch halves[0] {
        case "id": told.id = String(halves[1])
        case "event": told.name = String(halves[1])
        default: told.data = String(halves[1])
        }
      }
      return told
    }
  }

  private static func missed(_ told: Told?) throws -> (count: Int64?, next: String?) {
    let node = try JSONReader.read(Array((told?.data ?? "").utf8))
    return (node["count"]?.integer, node["next"]?.string)
  }

  @Test(
    "a reader that falls behind keeps the newest that is held, of some events the newest mebibyte, and is told how many it missed",
    arguments: [(RequestID?.none, EventBacklog.heldBytes), (RequestID(sequence: 1, origin: 1), EventBacklog.unsentBytes)])
  func behind(of request: RequestID?, atMost limit: Int) throws {
    let backlog = Self.backlog()
    let reader = backlog.read(EventSelection(request: request), after: nil)
    for _ in 0..<2000 { backlog.receive(Self.event(1, bytes: 8000)) }
    let told = Self.all(reader)
    #expect(told.first?.name == "missed")
    let events = told.dropFirst()
    let (count, next) = try Self.missed(told.first)
    #expect(count == Int64(2000 - events.count))
    #expect(next == events.first?.id)
    let bytes = events.reduce(0) { $0 + $1.data.utf8.count }
    #expect(bytes > limit * 9 / 10 && bytes <= limit, "\(bytes)")
    #expect(events.allSatisfy { $0.name == "log" })
    #expect(EventID(events.last?.id ?? "")?.sequence == 2000)
    #expect(Self.all(reader).isEmpty)
  }

  @Test("readers of all events get the same, whoever comes first, and however many portions they are behind")
  func shared() throws {
    let backlog = Self.backlog()
    let readers = (0..<3).map { _ in backlog.read(EventSelection(), after: nil) }
    var told: [[Told]] = [[], [], []]
    for round in 0..<40 {
      for _ in 0..<(round % 5 * 20) { backlog.receive(Self.event(1, bytes: 500 * (round % 3 + 1))) }
      // One takes all at once, one a portion at a time, one only now and then.
      told[0] += Self.all(readers[0])
      if let portion = readers[1].take() { told[1] += Self.told(Array(portion.readableBytesView)) }
      if round % 7 == 0 { told[2] += Self.all(readers[2]) }
    }
    for index in readers.indices { told[index] += Self.all(readers[index]) }
    #expect(told[0].compactMap { EventID($0.id)?.sequence } == Array(1...1600))
    #expect(told[1] == told[0] && told[2] == told[0])
  }

  @Test("a reader of one request misses nothing of it, whatever happens to others meanwhile")
  func filtered() throws {
    let backlog = Self.backlog()
    let reader = backlog.read(EventSelection(request: RequestID(sequence: 7, origin: 1)), after: nil)
    backlog.receive(Self.event(7))
    for _ in 0..<500 { backlog.receive(Self.event(1, bytes: 8000)) }
    backlog.receive(Self.event(7))
    #expect(Self.all(reader).compactMap { EventID($0.id)?.sequence } == [1, 502])
  }

  @Test("what is held is bounded for all readers together")
  func bounded() throws {
    let backlog = Self.backlog()
    let readers = (0..<100).map { backlog.read(EventSelection(request: RequestID(sequence: $0, origin: 1)), after: nil) }
    for round in 0..<20_000 { backlog.receive(Self.event(Int64(round % 100), bytes: 2000)) }
    let kept = readers.reduce(0) { sum, reader in
      Self.all(reader).filter { $0.name == "log" }.reduce(sum) { $0 + $1.data.utf8.count }
    }
    #expect(kept <= EventBacklog.heldBytes && kept > EventBacklog.heldBytes / 2, "\(kept)")
  }

  @Test("a reader that comes back goes on behind the event it saw last")
  func resumed() throws {
    let backlog = Self.backlog()
    let first = backlog.read(EventSelection(), after: nil)
    for request in 1...10 { backlog.receive(Self.event(Int64(request))) }
    let seen = Self.all(first)
    let all = backlog.read(EventSelection(), after: seen[3].id)
    #expect(Self.all(all) == Array(seen[4...]))
    let one = backlog.read(EventSelection(request: RequestID(sequence: 9, origin: 1)), after: seen[3].id)
    #expect(Self.all(one) == [seen[8]])
    let none = backlog.read(EventSelection(), after: seen[9].id)
    #expect(Self.all(none).isEmpty)
  }

  @Test("a reader that comes back gets all that is held since, and what happens meanwhile, in order")
  func resumedFar() throws {
    let backlog = Self.backlog()
    let first = backlog.read(EventSelection(), after: nil)
    backlog.receive(Self.event(1))
    let seen = try #require(Self.all(first).first)
    for _ in 0..<800 { backlog.receive(Self.event(1, bytes: 8000)) }
    let reader = backlog.read(EventSelection(), after: seen.id)
    let one = backlog.read(EventSelection(request: RequestID(sequence: 9, origin: 1)), after: seen.id)
    var told = Self.told(Array(try #require(reader.take()).readableBytesView))
    for _ in 0..<50 { backlog.receive(Self.event(9, bytes: 8000)) }
    told += Self.all(reader)
    #expect(told.allSatisfy { $0.name == "log" })
    let (all, last): ([UInt64], [UInt64]) = (Array(2...851), Array(802...851))
    #expect(told.compactMap { EventID($0.id)?.sequence } == all)
    #expect(Self.all(one).compactMap { EventID($0.id)?.sequence } == last)
    backlog.receive(Self.event(9))
    for reader in [reader, one] { #expect(Self.all(reader).compactMap { EventID($0.id)?.sequence } == [852]) }
  }

  @Test("a reader that comes back misses only what is held no longer while it reads")
  func resumedSlowly() throws {
    let backlog = Self.backlog()
    let first = backlog.read(EventSelection(), after: nil)
    backlog.receive(Self.event(1))
    let seen = try #require(Self.all(first).first)
    for _ in 0..<900 { backlog.receive(Self.event(1, bytes: 8000)) }
    let reader = backlog.read(EventSelection(), after: seen.id)
    let part = Self.told(Array(try #require(reader.take()).readableBytesView))
    for _ in 0..<300 { backlog.receive(Self.event(1, bytes: 8000)) }
    let rest = Self.all(reader)
    let (count, next) = try Self.missed(rest.first)
    #expect(rest.first?.name == "missed")
    #expect(next == rest[1].id)
    #expect(rest.dropFirst().allSatisfy { $0.name == "log" })
    #expect(count == Int64(1200 - part.count - (rest.count - 1)))
    #expect(rest.count > 900 && EventID(rest.last?.id ?? "")?.sequence == 1201)
  }

  @Test("a reader that comes back too late is told how many events it missed")
  func resumedLate() throws {
    let backlog = Self.backlog()
    let first = backlog.read(EventSelection(), after: nil)
    backlog.receive(Self.event(1))
    let seen = try #require(Self.all(first).first)
    for _ in 0..<3000 { backlog.receive(Self.event(1, bytes: 8000)) }
    let told = Self.all(backlog.read(EventSelection(), after: seen.id))
    let (count, next) = try Self.missed(told.first)
    #expect(told.first?.name == "missed")
    #expect(count == Int64(3000 - (told.count - 1)))
    #expect(next == told[1].id)
  }

  @Test(
    "an id of an earlier host, of the future or of nobody is met with what was missed, of which nobody knows how much",
    arguments: ["0123456789abcdef-3", "future", "5", "x-y", "0123456789abcdef-18446744073709551615"])
  func unknown(_ last: String) throws {
    let backlog = Self.backlog()
    let first = backlog.read(EventSelection(), after: nil)
    backlog.receive(Self.event(1))
    let seen = try #require(Self.all(first).first.flatMap { EventID($0.id) })
    let id = last == "future" ? EventID(incarnation: seen.incarnation, sequence: 99).description : last
    let reader = backlog.read(EventSelection(), after: id)
    let told = Self.all(reader)
    #expect(told.map(\.name) == ["missed"])
    let (count, next) = try Self.missed(told.first)
    #expect(count == nil)
    #expect(next == EventID(incarnation: seen.incarnation, sequence: 2).description)
    backlog.receive(Self.event(1))
    #expect(Self.all(reader).map(\.id) == [next])
  }

  @Test("ids are read as they are written")
  func ids() {
    for id in [EventID(incarnation: 0, sequence: 0), EventID(incarnation: .max, sequence: .max), EventID(incarnation: 5, sequence: 7)] {
      #expect(EventID(id.description) == id)
    }
    for text in ["", "-", "-1", "0000000000000005-+7", "+000000000000005-7", "0000000000000005", "5-7", "0000000000000005-7-8"] {
      #expect(EventID(text) == nil, "\(text)")
    }
  }

  @Test("the host tells while there are readers and for a while afterwards, and another sequence begins when it tells again")
  func interest() async throws {
    let (told, signal) = AsyncStream<Bool>.makeStream()
    var changes = told.makeAsyncIterator()
    let backlog = Self.backlog(linger: .zero) { signal.yield($0) }
    func first() throws -> EventID? {
      let reader = backlog.read(EventSelection(), after: nil)
      backlog.receive(Self.event(1))
      return Self.all(reader).first.flatMap { EventID($0.id) }
    }
    let before = try #require(try first())
    #expect(await changes.next() == true)
    #expect(await changes.next() == false)
    let after = try #require(try first())
    #expect(await changes.next() == true)
    #expect(after.sequence == 1 && after.incarnation != before.incarnation)
  }

  @Test("a reader is woken once for all that happens until it has taken everything")
  func wakes() {
    let backlog = Self.backlog()
    let reader = backlog.read(EventSelection(), after: nil)
    let wakes = Mutex(0)
    reader.begin { wakes.withLock { $0 += 1 } }
    #expect(wakes.withLock { $0 } == 1)
    for _ in 1...3 { backlog.receive(Self.event(1)) }
    #expect(wakes.withLock { $0 } == 1)
    #expect(Self.all(reader).count == 3)
    for _ in 1...3 { backlog.receive(Self.event(1)) }
    #expect(wakes.withLock { $0 } == 2)
    _ = reader.take()
    backlog.finish()
    #expect(wakes.withLock { $0 } == 2 && reader.hasEnded)
    #expect(reader.take() == nil)
    reader.stop()
  }

  @Test("one reader more than there may be takes the place of the oldest, whose events end")
  func tooMany() async {
    let backlog = Self.backlog()
    let readers = (0..<EventBacklog.maximumReaders).map { _ in backlog.read(EventSelection(), after: nil) }
    let (told, wakes) = AsyncStream.makeStream(of: Bool.self)
    readers[0].begin { [reader = readers[0]] in wakes.yield(reader.hasEnded) }
    var ends = told.makeAsyncIterator()
    #expect(await ends.next() == false)
    let last = backlog.read(EventSelection(), after: nil)
    #expect(await ends.next() == true)
    backlog.receive(Self.event(1))
    #expect(readers[0].take() == nil)
    #expect(readers[1].take() != nil)
    #expect(last.take() != nil)
  }
}
