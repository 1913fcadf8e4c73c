import HostThreads
import TaskModel
import TestSupport
import Testing

@testable import HostConditions

/// Notifications on a real bus, with a desktop of the test's.
@Suite("Desktop notifications", .enabled(if: BusDaemon.isPossible, "needs /usr/bin/dbus-daemon"), .timeLimit(.minutes(5)))
struct DesktopNotificationTests {
  /// Takes one notification, and answers with a number, an error, or not at all.
  private func desktop(on bus: BusDaemon, answering answer: BusMessage.Kind?) async throws -> AsyncStream<BusMessage> {
    let (calls, told) = AsyncStream.makeStream(of: BusMessage.self)
    let (ready, isReady) = AsyncStream.makeStream(of: Bool.self)
    try HostThread.start("desktop") {
      do {
        let deadline = SystemClock.now + .seconds(30)
        let connection = try BusConnection(bus.socket, until: deadline)
        var name = BusWriter()
        name.append(string: "org.freedesktop.Notifications")
        name.append(number: 0)
        var request = BusMessage.ofBus("RequestName")
        (request.signature, request.body) = ("su", name.bytes)
        _ = try connection.call(request, until: deadline)
        isReady.yield(true)
        while let message = try connection.next(until: deadline) {
          guard message.kind == .call, message.member == "Notify", let sender = message.sender else { continue }
          told.yield(message)
          guard let answer else { continue }
          var body = BusWriter()
          body.append(number: 42)
          var reply = BusMessage(kind: answer, serial: 0, replyTo: message.serial, destination: sender)
          if answer == .answer { (reply.signature, reply.body) = ("u", body.bytes) } else { reply.errorName = "org.example.No" }
          try connection.send(reply, until: deadline)
        }
      } catch { isReady.yield(false) }
      told.finish()
    }
    for await isReady in ready {
      guard isReady else { throw TestFailure("no desktop on the bus") }
      break
    }
    return calls
  }

  @Test("are called as the specification says, and their number is returned")
  func shown() async throws {
    let bus = try BusDaemon()
    let calls = try await desktop(on: bus, answering: .answer)
    let socket = bus.socket
    let number = try await onThread {
      try DesktopNotification(title: "Import", text: "3 of 10 <files> & more\0", percent: 30).show(on: socket, replacing: 7)
    }
    #expect(number == 42)
    var iterator = calls.makeAsyncIterator()
    let call = try #require(await iterator.next())
    #expect(call.signature == "susssasa{sv}i")
    #expect(call.path == "/org/freedesktop/Notifications")
    var expected = BusWriter()
    for text in ["taskhost"] { expected.append(string: text) }
    expected.append(number: 7)
    for text in ["", "Import", "3 of 10 &lt;files&gt; &amp; more"] { expected.append(string: text) }
    expected.append(number: 0)
    #expect(Array(call.body.prefix(expected.bytes.count)) == expected.bytes)
    // The hint "value", a variant of the type i, and the time that the desktop chooses.
    #expect(Array(call.body.suffix(8)) == [30, 0, 0, 0, 255, 255, 255, 255])
    try bus.end()
  }

  @Test("a refusal, a bus without a desktop and no bus are failures with a reason", arguments: ["error", "nobody", "absent"])
  func refused(_ kind: String) async throws {
    let bus = try BusDaemon()
    if kind == "error" { _ = try await desktop(on: bus, answering: .error) }
    let socket = kind == "absent" ? bus.socket + "-absent" : bus.socket
    let failure = await #expect(throws: DesktopNotification.Failure.self) {
      try await onThread { try DesktopNotification(title: "a", text: "b", percent: nil).show(on: socket, replacing: 0) }
    }
    let reasons = ["error": "org.example.No", "nobody": "ServiceUnknown", "absent": "No such file"]
    #expect("\(String(describing: failure))".contains(reasons[kind] ?? "?"), "\(String(describing: failure))")
    try bus.end()
  }
}
