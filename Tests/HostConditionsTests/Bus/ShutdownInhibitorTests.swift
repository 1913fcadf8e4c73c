import HostThreads
import Synchronization
import TaskModel
import TestSupport
import Testing

@testable import HostConditions

@Suite("The inhibitor of shutdowns", .timeLimit(.minutes(2))) struct ShutdownInhibitorTests {
  private func isHeld(by inhibitor: ShutdownInhibitor) async throws -> Bool { try await onThread { inhibitor.isHeld() } }

  @Test(
    "while it is wanted, logind is asked for a lock that delays a shutdown, and the lock ends when it is not wanted any more",
    .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func lock() async throws {
    let daemon = try await onThread { try BusDaemon() }
    let logind = try await FakeLogind(bus: daemon.socket)
    let inhibitor = ShutdownInhibitor(bus: daemon.socket) { Issue.record("\($0)") }
    for round in 0..<2 {
      inhibitor.set(true)
      #expect(try await isHeld(by: inhibitor))
      inhibitor.set(true)
      #expect(logind.asked.count == round + 1, "one lock at a time")
      #expect(logind.asked[round] == ["shutdown", "taskhost", "execution assertions are held", "delay"])
      inhibitor.set(false)
      #expect(try await !isHeld(by: inhibitor))
      #expect(try await onThread { logind.waitForEnd(of: round) })
    }
    logind.leave()
  }

  @Test("the lock ends with the inhibitor", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func forgotten() async throws {
    let daemon = try await onThread { try BusDaemon() }
    let logind = try await FakeLogind(bus: daemon.socket)
    do {
      let inhibitor = ShutdownInhibitor(bus: daemon.socket) { Issue.record("\($0)") }
      inhibitor.set(true)
      #expect(try await isHeld(by: inhibitor))
    }
    #expect(try await onThread { logind.waitForEnd(of: 0) })
    logind.leave()
  }

  @Test("a logind that refuses is told of once, and asked again", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func refused() async throws {
    let daemon = try await onThread { try BusDaemon() }
    let logind = try await FakeLogind(bus: daemon.socket, refuses: true)
    let said = AsyncStream<String>.makeStream()
    let inhibitor = ShutdownInhibitor(bus: daemon.socket) { said.continuation.yield($0) }
    inhibitor.set(true)
    var sentences = said.stream.makeAsyncIterator()
    #expect(
      await sentences.next() == "systemd-logind gives no lock that delays a shutdown: org.freedesktop.DBus.Error.AccessDenied")
    #expect(try await !isHeld(by: inhibitor))
    logind.leave()
  }

  @Test("without a bus, and on one without logind, nothing is delayed and nothing said", arguments: [true, false])
  func nobody(_ hasBus: Bool) async throws {
    guard BusDaemon.isPossible || !hasBus else { return }
    let daemon = hasBus ? try await onThread { try BusDaemon() } : nil
    let inhibitor = ShutdownInhibitor(bus: daemon?.socket ?? "/nonexistent/bus") { Issue.record("\($0)") }
    inhibitor.set(true)
    inhibitor.set(false)
    inhibitor.set(true)
    #expect(try await !isHeld(by: inhibitor))
    try daemon?.end()
  }
}
