import ControlTestSupport
import Foundation
import Glibc
import HostThreads
import Logging
import Synchronization
import TaskModel
import Testing

@testable import HostControl

@Suite("Event sockets") struct EventSocketsTests {
  private static var quiet: Logger {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }

  private static func unix(_ path: String, event: String = "push", mode: UInt32 = 0o600, group: String? = nil) -> EventSocket {
    EventSocket(event: event, address: .unix(ControlSocket(path: path, mode: mode, group: group)))
  }

  private static func udp(_ host: String = "127.0.0.1", _ port: Int = 0, event: String = "push") -> EventSocket {
    EventSocket(event: event, address: .udp(host: host, port: port))
  }

  /// Gives `body` sockets that hand over to `arrivals`; closed afterwards.
  private static func with(
    _ sockets: [EventSocket], _ arrivals: Arrivals = Arrivals(), _ body: (EventSockets, Arrivals) async throws -> Void
  ) async throws {
    let open = try EventSockets(sockets, log: quiet)
    open.start(arrivals.sink)
    do { try await body(open, arrivals) } catch {
      arrivals.release()
      await open.close()
      throw error
    }
    arrivals.release()
    await open.close()
  }

  private static func problem(_ sockets: [EventSocket]) -> EventSocketError.Problem? {
    do throws(EventSocketError) {
      _ = try EventSockets(sockets, log: quiet)
      return nil
    } catch { return error.problem }
  }

  // MARK: What arrives

  @Test("each datagram to a Unix socket is the event, with its bytes as they came, in their order")
  func unix() async throws {
    try await ControlFixture.withDirectory { directory in
      try await Self.with([Self.unix("\(directory)/e.sock")]) { _, arrivals in
        let sender = DatagramSender(path: "\(directory)/e.sock")
        for text in ["{\"v\":  7}", "plain text\n", ""] { #expect(sender.send(text) == 0) }
        #expect(sender.send([0xFF, 0]) == 0)
        let events = try await arrivals.first(4)
        #expect(events.allSatisfy { $0.name == "push" })
        #expect(events.map(\.payload) == [Array("{\"v\":  7}".utf8), Array("plain text\n".utf8), nil, [0xFF, 0]])
      }
    }
  }

  @Test("each datagram to a UDP port is the event, of IPv4 and of IPv6")
  func udp() async throws {
    try await Self.with([Self.udp(event: "four"), Self.udp("::1", event: "six")]) { sockets, arrivals in
      let four = DatagramSender(port: try #require(sockets.ports["four"]))
      #expect(four.send("a") == 0)
      let events1 = try await arrivals.first(1)
      #expect(events1.first == Arrivals.Event(name: "four", payload: Array("a".utf8)))
      let six = DatagramSender(port6: try #require(sockets.ports["six"]))
      #expect(six.send("b") == 0)
      let events2 = try await arrivals.first(2)
      #expect(events2.last == Arrivals.Event(name: "six", payload: Array("b".utf8)))
    }
  }

  @Test("32 KiB are an event, one byte more is dropped and counted")
  func length() async throws {
    try await ControlFixture.withDirectory { directory in
      try await Self.with([Self.unix("\(directory)/e.sock")]) { sockets, arrivals in
        let sender = DatagramSender(path: "\(directory)/e.sock")
        let most = [UInt8](repeating: 0x78, count: EventSocket.maximumBytes)
        #expect(sender.send(most + [0x78]) == 0)
        #expect(sender.send(most) == 0)
        let events1 = try await arrivals.first(1)
        #expect(events1.first?.payload == most)
        #expect(sockets.counts.tooLong == 1)
        #expect(sockets.problems.first?.text.contains("1 datagram dropped: longer than 32768 bytes") == true)
      }
    }
  }

  @Test("what comes before the start is taken at the start")
  func start() async throws {
    try await ControlFixture.withDirectory { directory in
      let sockets = try EventSockets([Self.unix("\(directory)/e.sock")], log: Self.quiet)
      #expect(DatagramSender(path: "\(directory)/e.sock").send("early") == 0)
      let arrivals = Arrivals()
      sockets.start(arrivals.sink)
      let events1 = try await arrivals.first(1)
      #expect(events1.first?.text == "early")
      await sockets.close()
    }
  }

  // MARK: Floods

  @Test("of a flood that is not taken the newest stay, the others are counted, and few are handed over at once")
  func flood() async throws {
    try await ControlFixture.withDirectory { directory in
      try await Self.with([Self.unix("\(directory)/e.sock")], Arrivals(holding: true)) { sockets, arrivals in
        let sender = DatagramSender(path: "\(directory)/e.sock")
        for number in 1...5000 { #expect(sender.send("\(number)") == 0) }
        arrivals.release()
        #expect(sender.send("last") == 0)
        // 32 that were handed over and 1024 that waited; the last one may come after the release.
        let events = try await arrivals.first(1056)
        #expect(events.first?.text == "1")
        await sockets.close()
        #expect(arrivals.events.last?.text == "last")
        #expect(arrivals.mostAtOnce == 32)
        let numbers = arrivals.events.compactMap { Int($0.text ?? "") }
        #expect(numbers == numbers.sorted() && numbers.last == 5000)
        #expect(UInt64(arrivals.events.count) + sockets.counts.overflowed == 5001)
      }
    }
  }

  @Test("a socket that is flooded takes nothing from another's turn")
  func neighbours() async throws {
    try await ControlFixture.withDirectory { directory in
      let paths = ["\(directory)/loud.sock", "\(directory)/calm.sock"]
      try await Self.with(
        [Self.unix(paths[0], event: "loud"), Self.unix(paths[1], event: "calm")], Arrivals(holding: true)
      ) { sockets, arrivals in
        let loud = DatagramSender(path: paths[0])
        for _ in 0..<3000 { #expect(loud.send("x") == 0) }
        #expect(DatagramSender(path: paths[1]).send("calm") == 0)
        let events33 = try await arrivals.first(33)
        #expect(events33.last?.name == "calm")
      }
    }
  }

  @Test("what the kernel had no room for is counted with what the host dropped")
  func kernelDrops() async throws {
    let sockets = try EventSockets([Self.udp()], log: Self.quiet)
    let sender = DatagramSender(port: try #require(sockets.ports["push"]))
    // Nothing is read before the start.
    for _ in 0..<20_000 { #expect(sender.send("a datagram that nobody reads") == 0) }
    let dropped = sockets.counts.overflowed
    #expect(dropped > 0)
    let arrivals = Arrivals()
    sockets.start(arrivals.sink)
    _ = try await arrivals.first(1)
    await sockets.close()
    #expect(sockets.counts.unrecorded == 0)
  }

  @Test("what cannot be recorded is counted")
  func unrecorded() async throws {
    try await ControlFixture.withDirectory { directory in
      try await Self.with([Self.unix("\(directory)/e.sock")], Arrivals(recorded: false)) { sockets, arrivals in
        for _ in 0..<3 { #expect(DatagramSender(path: "\(directory)/e.sock").send("x") == 0) }
        _ = try await arrivals.first(3)
        await sockets.close()
        #expect(sockets.counts.unrecorded == 3)
      }
    }
  }

  // MARK: The end

  @Test("at the end the socket's file goes first, and what was sent is recorded before it returns")
  func end() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/e.sock"
      let sockets = try EventSockets([Self.unix(path)], log: Self.quiet)
      let arrivals = Arrivals(holding: true)
      sockets.start(arrivals.sink)
      let sender = DatagramSender(path: path)
      for number in 0..<100 { #expect(sender.send("\(number)") == 0) }
      _ = try await arrivals.first(32)
      async let closed: Void = sockets.close()
      arrivals.release()
      await closed
      #expect(sender.send("late") == ENOENT)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
      #expect(arrivals.events.count == 100)
      #expect(sockets.counts == EventSocketCounts())
    }
  }

  // MARK: Opening

  @Test(
    "a Unix socket has the mode that was asked for, and beside it is only the folder from which it can come back",
    arguments: [0o600, 0o660, 0o622])
  func mode(_ mode: UInt32) async throws {
    try await ControlFixture.withDirectory { directory in
      try await Self.with([Self.unix("\(directory)/e.sock", mode: mode)]) { _, _ in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/e.sock")
        #expect(attributes[.posixPermissions] as? Int == Int(mode))
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(names.count == 2)
        #expect(names.first?.hasPrefix(".taskhost-") == true)
        #expect(names.last == "e.sock")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }

  @Test("a Unix socket comes back when its directory was removed and made again, as often as that happens")
  func removedDirectory() async throws {
    try await ControlFixture.withDirectory { directory in
      let folder = "\(directory)/place"
      let path = "\(folder)/e.sock"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      let watched = Mutex<[String: @Sendable () -> Void]>([:])
      try await Self.with([Self.unix(path), Self.unix("\(directory)/other.sock", event: "other")]) { sockets, arrivals in
        sockets.keep { path, changed in watched.withLock { $0[path] = changed } }
        for round in 1...3 {
          // A try of its own may come in between.
          repeat { try? FileManager.default.removeItem(atPath: folder) } while access(folder, F_OK) == 0
          watched.withLock { $0[path] }?()
          try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
          let changed = watched.withLock { $0[folder] }
          #expect(changed != nil, "the directory is watched")
          changed?()
          #expect(DatagramSender(path: path).send("\(round)") == 0)
          #expect(DatagramSender(path: "\(directory)/other.sock").send("beside") == 0)
          _ = try await arrivals.first(2 * round)
        }
        let texts = arrivals.events.filter { $0.name == "push" }.map(\.text)
        #expect(texts == ["1", "2", "3"])
        #expect(sockets.problems.isEmpty)
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(left.isEmpty)
    }
  }

  @Test("a socket that nobody has any more is replaced")
  func stale() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/e.sock"
      try StaleSocket.leave(at: path, Int32(SOCK_DGRAM.rawValue))
      #expect(SocketFile.state(of: path) == .stale)
      try await Self.with([Self.unix(path)]) { _, arrivals in
        #expect(SocketFile.state(of: path) == .live)
        #expect(DatagramSender(path: path).send("x") == 0)
        _ = try await arrivals.first(1)
      }
    }
  }

  @Test("a socket that somebody has is left to them, of whatever kind it is")
  func live() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      #expect(Self.problem([Self.unix(fixture.socket)]) == .path(.inUse))
      let path = "\(fixture.directory)/e.sock"
      try await Self.with([Self.unix(path)]) { _, arrivals in
        #expect(Self.problem([Self.unix(path)]) == .path(.inUse))
        #expect(throws: ControlSocketError.self) { try ControlSocket(path: path).check() }
        #expect(DatagramSender(path: path).send("x") == 0)
        _ = try await arrivals.first(1)
      }
    }
  }

  @Test("a file, a directory or a group that is not there, and a path that is too long are named")
  func paths() async throws {
    try await ControlFixture.withDirectory { directory in
      try Data("mine".utf8).write(to: URL(filePath: "\(directory)/file"))
      #expect(Self.problem([Self.unix("\(directory)/file")]) == .path(.notASocket))
      #expect(try String(contentsOfFile: "\(directory)/file", encoding: .utf8) == "mine")
      #expect(Self.problem([Self.unix("\(directory)/no/e.sock")]) == .noDirectory("\(directory)/no"))
      #expect(Self.problem([Self.unix("\(directory)/e.sock", group: "no-such-group-here")]) == .path(.noSuchGroup("no-such-group-here")))
      let long = directory + "/" + String(repeating: "x", count: 107 - directory.utf8.count)
      #expect(Self.problem([Self.unix(long)]) == .path(.pathTooLong(108)))
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["file"])
      try await Self.with([Self.unix(String(long.dropLast()))]) { _, _ in }
    }
  }

  @Test("a port that is taken and an address of another machine are named")
  func ports() async throws {
    try await Self.with([Self.udp()]) { sockets, _ in
      let port = try #require(sockets.ports["push"])
      #expect(Self.problem([Self.udp("127.0.0.1", port)]) == .portInUse)
    }
    // An address that is reserved for documentation.
    #expect(Self.problem([Self.udp("192.0.2.1", 0)]) == .notLocal)
  }

  @Test("when one cannot be opened, none is")
  func allOrNone() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/e.sock"
      #expect(Self.problem([Self.unix(path), Self.udp("192.0.2.1", 0, event: "other")]) == .notLocal)
      #expect(SocketFile.state(of: path) == .absent)
    }
  }

  @Test("an error names the socket, the key of the configuration and what to do")
  func sentence() {
    let error = EventSocketError(socket: Self.udp("::1", 5140), problem: .portInUse)
    #expect(
      error.description
        == "the event socket udp:[::1]:5140 (events.push.listen): another process has the port, perhaps another host (ss -ulpn shows it): end that one, or choose another port"
    )
  }
}
