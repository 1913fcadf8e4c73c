import TestSupport
import HostThreads
import TaskModel

@testable import HostConditions

/// Answers for NetworkManager on a real bus, on a thread of its own.
final class FakeNetworkManager: Sendable {
  private let metered: Guarded<UInt32>
  private let isDone = Guarded(false)
  private let orders = Guarded<[UInt32]>([])
  private static let name = "org.freedesktop.NetworkManager"

  /// Once it is there to be asked.
  init(bus: String, metered: UInt32) async throws {
    self.metered = Guarded(metered)
    let started = AsyncStream<Bool>.makeStream()
    try HostThread.start("fake-manager") { [self] in
      do {
        let connection = try BusConnection(bus, until: SystemClock.now + .seconds(10))
        try Self.call(connection, "RequestName", Self.nameAndFlags, signature: "su")
        started.continuation.yield(true)
        try serve(connection)
      } catch { started.continuation.yield(false) }
    }
    for await isStarted in started.stream {
      guard isStarted else { throw TestFailure("no service could be made on the bus") }
      break
    }
  }

  deinit { leave() }

  /// Says another thing from now on, and tells so.
  func say(_ metered: UInt32) { orders.withLock { $0.append(metered) } }

  /// Goes from the bus.
  func leave() { isDone.withLock { $0 = true } }

  /// The arguments of RequestName.
  private static var nameAndFlags: [UInt8] {
    var body = BusWriter()
    body.append(string: name)
    body.append(number: 0)
    return body.bytes
  }

  private func serve(_ connection: BusConnection) throws {
    while !isDone.withLock({ $0 }) {
      for order in orders.withLock({ orders in
        defer { orders = [] }
        return orders
      }) {
        metered.withLock { $0 = order }
        try connection.send(
          BusMessage(
            kind: .signal, serial: 0, path: "/org/freedesktop/NetworkManager", interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged", signature: "s", body: BusMessage.body([Self.name])), until: SystemClock.now + .seconds(10))
      }
      guard let message = try connection.next(until: SystemClock.now + .milliseconds(20)), message.member == "Get" else { continue }
      var body = BusWriter()
      body.append(signature: "u")
      body.append(number: metered.withLock { $0 })
      guard let sender = message.sender else { continue }
      try connection.send(
        BusMessage(kind: .answer, serial: 0, replyTo: message.serial, destination: sender, signature: "v", body: body.bytes),
        until: SystemClock.now + .seconds(10))
    }
  }

  private static func call(
    _ connection: BusConnection, _ member: String, _ body: [UInt8], signature: String = ""
  ) throws {
    let deadline = SystemClock.now + .seconds(10)
    let serial = try connection.send(
      BusMessage(
        kind: .call, serial: 0, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: member,
        destination: "org.freedesktop.DBus", signature: signature, body: body), until: deadline)
    while let answer = try connection.next(until: deadline) {
      guard answer.replyTo == serial else { continue }
      guard answer.kind == .answer else { throw TestFailure("\(member): \(answer.errorName ?? "refused")") }
      return
    }
    throw TestFailure("\(member) was not answered")
  }
}
