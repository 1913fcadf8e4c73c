import TestSupport
import Glibc
import TaskModel
import Testing

@testable import HostConditions

@Suite("NetworkManager on the bus", .timeLimit(.minutes(5))) struct NetworkManagerBusTests {
  /// What is known after asking at that socket.
  private func asked(_ socket: String) async throws -> ManagerMetered? {
    try await onThread {
      let bus = NetworkManagerBus(path: socket)
      bus.ask()
      return bus.metered
    }
  }

  @Test(
    "what NetworkManager says is asked of a real bus", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"),
    arguments: [(0, ManagerMetered.unknown), (1, .yes), (2, .no), (3, .guessYes), (4, .guessNo), (99, nil)] as [(UInt32, ManagerMetered?)])
  func asks(_ number: UInt32, _ metered: ManagerMetered?) async throws {
    let daemon = try await onThread { try BusDaemon() }
    let manager = try await FakeNetworkManager(bus: daemon.socket, metered: number)
    #expect(try await asked(daemon.socket) == metered)
    manager.leave()
  }

  @Test("a change is heard of, and so is that it goes", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon")) func changes() async throws
  {
    let daemon = try await onThread { try BusDaemon() }
    let manager = try await FakeNetworkManager(bus: daemon.socket, metered: 2)
    let said = try await onThread {
      let bus = NetworkManagerBus(path: daemon.socket)
      var said: [ManagerMetered?] = []
      bus.ask()
      said.append(bus.metered)
      for act in [{ manager.say(1) }, { manager.leave() }] {
        act()
        var entry = pollfd(fd: bus.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        while !bus.receive() {
          guard poll(&entry, 1, 30_000) > 0 else { throw TestFailure("nothing was told") }
        }
        said.append(bus.metered)
      }
      return said
    }
    #expect(said == [.no, .yes, nil])
  }

  @Test("a bus without NetworkManager says nothing, and starts none", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func none() async throws {
    let daemon = try await onThread { try BusDaemon() }
    #expect(try await asked(daemon.socket) == nil)
  }

  @Test(
    "of a bus that ends, the last answer counts: anybody can break a connection",
    .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func ends() async throws {
    let daemon = try await onThread { try BusDaemon() }
    let manager = try await FakeNetworkManager(bus: daemon.socket, metered: 1)
    let (before, after) = try await onThread {
      let bus = NetworkManagerBus(path: daemon.socket)
      bus.ask()
      let before = bus.metered
      try daemon.end()
      #expect(!bus.receive())
      #expect(bus.descriptor == nil)
      // Nobody is there to ask.
      bus.ask()
      return (before, bus.metered)
    }
    #expect(before == .yes)
    #expect(after == .yes)
    manager.leave()
  }

  @Test(
    "a machine without a bus, or with something else at its socket, says nothing within its time",
    arguments: [
      ([], false), ([], true), (Array("REJECTED EXTERNAL\r\n".utf8), false), (Array("OK 1234\r\n".utf8), false),
      (Array("OK 1234\r\nHTTP/1.1 200".utf8), false), ([UInt8](repeating: 120, count: 10_000), false), (Array("OK 1234\r\nl".utf8), true),
    ] as [([UInt8], Bool)])
  func noBus(_ sent: [UInt8], _ closes: Bool) async throws {
    let fake = try FakeBus(sending: sent, closes: closes)
    // Who does not answer is waited for no longer than the suite's time limit: a machine with more to do than it can takes its time.
    #expect(try await asked(fake.socket) == nil)
    #expect(try await asked("\(fake.folder.path)/none") == nil)
    #expect(try await asked("/" + String(repeating: "long/", count: 40)) == nil)
  }
}
