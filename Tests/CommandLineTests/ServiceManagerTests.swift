import Glibc
import HostThreads
import Logging
import StoreTestSupport
import TaskModel
import TestSupport
import Testing

@testable import taskhost

@Suite("What the service manager is told", .timeLimit(.minutes(2))) struct ServiceManagerTests {
  private let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  private func made(_ variables: [String: String]) -> ServiceManager? { ServiceManager(environment: { variables[$0] }, log: log) }

  @Test("the host is ready, says what it does, and how long its end may take", arguments: [true, false])
  func messages(_ isAbstract: Bool) throws {
    let directory = try TemporaryDirectory()
    let socket = try ManagerSocket(isAbstract ? "@taskhost-test-\(getpid())" : directory.file("notify"))
    let manager = try #require(made(["NOTIFY_SOCKET": socket.place]))
    manager.ready("launched")
    #expect(socket.next() == "READY=1\nSTATUS=launched")
    manager.status("2 runs are live")
    #expect(socket.next() == "STATUS=2 runs are live")
    manager.stopping("draining", within: .seconds(90))
    #expect(socket.next() == "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=90000000")
  }

  @Test("nobody is told without a socket, or when it cannot be reached")
  func none() {
    #expect(made([:]) == nil && made(["NOTIFY_SOCKET": ""]) == nil)
    #expect(made(["NOTIFY_SOCKET": "/nonexistent/notify"]) == nil)
    #expect(made(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]) == nil)
  }

  @Test("the watchdog counts for this process alone, and only with a time")
  func watchdog() throws {
    let directory = try TemporaryDirectory()
    let socket = try ManagerSocket(directory.file("notify"))
    func interval(_ more: [String: String]) throws -> Duration? {
      try #require(made(more.merging(["NOTIFY_SOCKET": socket.place]) { $1 })).watchdog
    }
    #expect(try interval(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
    #expect(try interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(3))
    #expect(try interval(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
    for wrong in ["", "0", "-1", "x", "99999999999999999999"] { #expect(try interval(["WATCHDOG_USEC": wrong]) == nil, "\(wrong)") }
  }

  @Test("a scheduler that answers beats again and again; one that hangs does not beat, and beats again when it goes on")
  func beats() throws {
    let directory = try TemporaryDirectory()
    let socket = try ManagerSocket(directory.file("notify"))
    let manager = try #require(made(["NOTIFY_SOCKET": socket.place]))
    let waiting = Guarded<[@Sendable (Int) -> Void]>([])
    let hangs = Guarded(true)
    try Heartbeat.start(every: .milliseconds(20)) { answer in
      if hangs.withLock({ $0 }) { waiting.withLock { $0.append(answer) } } else { answer(3) }
    } beat: {
      manager.beat("\($0)")
    }
    #expect(socket.next(within: 0.3) == nil)
    let held = waiting.withLock { $0 }
    #expect(held.count == 1, "questions do not pile up")
    hangs.withLock { $0 = false }
    held.forEach { $0(7) }
    #expect(socket.next() == "WATCHDOG=1\nSTATUS=7")
    for _ in 0..<3 { #expect(socket.next() == "WATCHDOG=1\nSTATUS=3") }
  }
}
