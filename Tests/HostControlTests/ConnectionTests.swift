import NIOCore
import Synchronization
import Testing

@testable import HostControl

@Suite("How long the host waits for a client") struct ConnectionClockTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private static func at(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

  private static func clock() -> ConnectionClock { ConnectionClock(ClientPatience(), at: start) }

  /// A connection on which one request has been answered, at `second`.
  private static func asked(at second: Int64) -> ConnectionClock {
    var clock = Self.clock()
    clock.bytesArrived(at: at(second))
    clock.headArrived(at: at(second))
    clock.requestArrived(at: at(second))
    clock.answered(at: at(second))
    return clock
  }

  @Test("the first head has five seconds from the connection on, however its bytes trickle in")
  func firstHead() {
    var clock = Self.clock()
    #expect(clock.deadline == Self.at(5))
    for second in 1...4 { clock.bytesArrived(at: Self.at(Int64(second))) }
    #expect(clock.deadline == Self.at(5))
    #expect(clock.waitingSince == Self.start)
  }

  @Test("a later head has five seconds from its first byte on, and may be begun within thirty")
  func laterHead() {
    var clock = Self.asked(at: 10)
    #expect(clock.deadline == Self.at(40))
    clock.bytesArrived(at: Self.at(20))
    clock.bytesArrived(at: Self.at(24))
    #expect(clock.deadline == Self.at(25))
  }

  @Test("a body has ten seconds, one more for each 64 KiB, and a minute at most")
  func body() {
    var clock = Self.clock()
    clock.bytesArrived(at: Self.at(1))
    clock.headArrived(at: Self.at(1))
    #expect(clock.deadline == Self.at(11))
    clock.bodyArrived(65_536 * 3 + 65_535)
    #expect(clock.deadline == Self.at(14))
    clock.bodyArrived(1 << 26)
    #expect(clock.deadline == Self.at(61))
  }

  @Test("nothing is counted while the host answers, nor while a further request arrives meanwhile")
  func answering() {
    var clock = Self.clock()
    clock.headArrived(at: Self.at(1))
    clock.requestArrived(at: Self.at(1))
    #expect(clock.deadline == nil)
    #expect(clock.waitingSince == nil)
    clock.bytesArrived(at: Self.at(2))
    #expect(clock.deadline == nil)
    clock.headArrived(at: Self.at(3))
    #expect(clock.deadline == nil)
    clock.answered(at: Self.at(100))
    #expect(clock.deadline == Self.at(110))
    clock.requestArrived(at: Self.at(101))
    clock.answered(at: Self.at(102))
    #expect(clock.deadline == Self.at(132))
  }

  @Test("a body that was answered before it was there still has to come")
  func refusedBody() {
    var clock = Self.clock()
    clock.headArrived(at: Self.at(1))
    clock.answered(at: Self.at(2))
    #expect(clock.deadline == Self.at(12))
  }

  @Test("time for which the host was busy is not the client's")
  func busyHost() {
    var clock = Self.clock()
    clock.hostWasBusy(.seconds(7))
    #expect(clock.deadline == Self.at(13))
    clock.headArrived(at: Self.at(10))
    clock.requestArrived(at: Self.at(10))
    clock.waitsToBeRead(5, at: Self.at(10))
    clock.hostWasBusy(.seconds(2))
    #expect(clock.deadline == Self.at(43))
  }

  @Test("a client that reads nothing for thirty seconds is given up, one that reads a little is not")
  func unread() {
    var clock = Self.clock()
    clock.headArrived(at: Self.at(1))
    clock.requestArrived(at: Self.at(1))
    clock.waitsToBeRead(500_000, at: Self.at(10))
    #expect(clock.deadline == Self.at(40))
    #expect(clock.waitingSince == Self.at(10))
    clock.waitsToBeRead(600_000, at: Self.at(20))
    #expect(clock.deadline == Self.at(40))
    clock.waitsToBeRead(400_000, at: Self.at(39))
    #expect(clock.deadline == Self.at(69))
    clock.waitsToBeRead(nil, at: Self.at(50))
    #expect(clock.deadline == nil)
  }
}

@Suite("Connections at once") struct ConnectionTableTests {
  /// Which connections were closed, by their names.
  private final class Closed: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func note(_ name: String) { names.withLock { $0.append(name) } }
  }

  private static func at(_ second: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(second) }

  private let table = ConnectionTable(maximum: 4, reserve: 1)
  private let closed = Closed()

  private func admit(_ name: String, isOwn: Bool, at second: Int64) -> Int? {
    table.admit(isOwn: isOwn, waitingSince: Self.at(second)) { [closed] in closed.note(name) }
  }

  @Test("for one too many, the one that has been waited for longest is closed; one that is being answered is not")
  func oldest() throws {
    let a = try #require(admit("a", isOwn: true, at: 1))
    let b = try #require(admit("b", isOwn: true, at: 2))
    for (name, second) in [("c", Int64(3)), ("d", 4)] { #expect(admit(name, isOwn: true, at: second) != nil) }
    table.note(a, waitingSince: nil)
    #expect(admit("e", isOwn: true, at: 5) != nil)
    #expect(closed.all == ["b"])
    table.note(b, waitingSince: nil)
    table.note(a, waitingSince: Self.at(9))
    for name in ["f", "g", "h"] { #expect(admit(name, isOwn: true, at: 10) != nil) }
    #expect(closed.all == ["b", "c", "d", "e"])
    #expect(admit("i", isOwn: true, at: 11) != nil)
    #expect(closed.all.last == "a")
    #expect(table.count == 4)
  }

  @Test("while every connection is being answered, a new one is refused; when one has gone it is taken")
  func refused() throws {
    let numbers = try (0..<4).map { try #require(admit("\($0)", isOwn: true, at: Int64($0))) }
    for number in numbers { table.note(number, waitingSince: nil) }
    #expect(admit("new", isOwn: true, at: 9) == nil)
    table.remove(numbers[2])
    table.remove(numbers[2])
    #expect(admit("new", isOwn: true, at: 9) != nil)
    #expect(closed.all.isEmpty)
  }

  @Test("other users' connections leave a reserve, and make room for the host's own user's, not the other way round")
  func reserve() throws {
    let others = try ["a", "b", "c"].map { try #require(admit($0, isOwn: false, at: 5)) }
    #expect(admit("own", isOwn: true, at: 1) != nil)
    // The own one has been waited for longer, and stays.
    #expect(admit("d", isOwn: false, at: 6) != nil)
    #expect(closed.all == ["a"])
    #expect(admit("own 2", isOwn: true, at: 7) != nil)
    #expect(closed.all == ["a", "own"])
    for number in others { table.note(number, waitingSince: nil) }
    _ = admit("e", isOwn: false, at: 8)
    #expect(closed.all == ["a", "own", "d"])
  }
}
