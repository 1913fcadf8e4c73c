import Glibc
import HostThreads
import TaskModel
import TestSupport

@testable import HostConditions

/// A small service on a real bus that gives locks as systemd-logind does: the write end of a pipe, whose end it notices.
final class FakeLogind: Sendable {
  private struct State {
    var asked: [[String]] = []
    /// The read ends of the locks' pipes.
    var locks: [Int32] = []
  }

  private let state = Guarded(State())
  private let isDone = Guarded(false)
  private let refuses: Bool

  /// Once it is there to be asked.
  init(bus: String, refuses: Bool = false) async throws {
    self.refuses = refuses
    let started = AsyncStream<Bool>.makeStream()
    try HostThread.start("fake-logind") { [self] in
      do {
        let deadline = SystemClock.now + .seconds(10)
        let connection = try BusConnection(bus, takesDescriptors: true, until: deadline)
        var name = BusWriter()
        name.append(string: "org.freedesktop.login1")
        name.append(number: 0)
        let answer = try connection.call(
          BusMessage(
            kind: .call, serial: 0, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "RequestName",
            destination: "org.freedesktop.DBus", signature: "su", body: name.bytes), until: deadline)
        started.continuation.yield(answer.kind == .answer)
        try serve(connection)
      } catch { started.continuation.yield(false) }
    }
    for await isStarted in started.stream {
      guard isStarted else { throw TestFailure("no service could be made on the bus") }
      break
    }
  }

  deinit {
    leave()
    for lock in state.withLock({ $0.locks }) { close(lock) }
  }

  /// Goes from the bus.
  func leave() { isDone.withLock { $0 = true } }

  /// The arguments of each call.
  var asked: [[String]] { state.withLock { $0.asked } }

  /// Waits until the lock with that number has ended.
  func waitForEnd(of lock: Int) -> Bool {
    var wait = pollfd(fd: state.withLock { $0.locks[lock] }, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, 30_000) == 1 && wait.revents & Int16(POLLHUP) != 0
  }

  private func serve(_ connection: BusConnection) throws {
    while !isDone.withLock({ $0 }) {
      guard let call = try connection.next(until: SystemClock.now + .milliseconds(20)), call.member == "Inhibit", let sender = call.sender
      else { continue }
      state.withLock { $0.asked.append(Self.strings(call.body)) }
      guard !refuses else {
        try connection.send(
          BusMessage(
            kind: .error, serial: 0, replyTo: call.serial, errorName: "org.freedesktop.DBus.Error.AccessDenied", destination: sender),
          until: SystemClock.now + .seconds(10))
        continue
      }
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
      state.withLock { $0.locks.append(ends[0]) }
      var body = BusWriter()
      body.append(number: 0)
      let answer = BusMessage(
        kind: .answer, serial: 1_000, replyTo: call.serial, destination: sender, descriptorCount: 1, signature: "h", body: body.bytes
      ).encoded
      guard TestSupport.send(answer, attaching: [ends[1]], on: connection.descriptor) == answer.count else {
        throw TestFailure("the answer was not sent")
      }
      close(ends[1])
    }
  }

  private static func strings(_ body: [UInt8]) -> [String] {
    let reader = BusReader(body, isBigEndian: false)
    var (offset, strings): (Int, [String]) = (0, [])
    while let length = reader.number(at: offset), let text = reader.text(at: offset + 4, length: Int(length)) {
      strings.append(text)
      offset = (offset + 4 + Int(length) + 1 + 3) & ~3
    }
    return strings
  }
}
