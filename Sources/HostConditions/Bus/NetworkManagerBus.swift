import HostThreads
import TaskModel

/// Asks NetworkManager whether the connection is metered, and listens for changes.
///
/// A machine without a bus or NetworkManager has no answer. The call does not start NetworkManager, and is not repeated until the network
/// changes.
final class NetworkManagerBus {
  private let path: String?
  private var connection: BusConnection?
  /// nil if there is no answer.
  private(set) var metered: ManagerMetered?

  private static let service = "org.freedesktop.NetworkManager"
  private static let object = "/org/freedesktop/NetworkManager"
  private static let bus = "org.freedesktop.DBus"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// The time limit of an exchange with the bus. Meanwhile, the monitor observes nothing else.
  private static let patience = Duration.milliseconds(500)
  /// How often to repeat the call immediately if changes arrive meanwhile.
  private static let rounds = 16

  /// - Parameter path: The bus's socket; nil disables the question.
  init(path: String?) { self.path = path }

  var descriptor: Int32? { connection?.descriptor }

  func close() {
    connection = nil
    metered = nil
  }

  /// If nobody answers, what was answered last counts: anybody on the machine can break a connection to the bus.
  func ask() {
    do throws(BusConnection.Failure) {
      if connection == nil { connection = try open() }
      try update()
    } catch { connection = nil }
  }

  /// Receives messages from the bus; asks again if the connection breaks. Returns true if NetworkManager's answer may have changed.
  func receive() -> Bool {
    let before = metered
    do throws(BusConnection.Failure) {
      guard let connection else { return false }
      if try Self.takeSignals(connection) { try update() }
    } catch {
      connection = nil
      ask()
    }
    return metered != before
  }

  private func open() throws(BusConnection.Failure) -> BusConnection? {
    guard let path else { return nil }
    let deadline = SystemClock.now + Self.patience
    let connection = try BusConnection(path, until: deadline)
    for rule in [
      "type='signal',sender='\(Self.service)',path='\(Self.object)',interface='\(Self.properties)',member='PropertiesChanged'",
      "type='signal',sender='\(Self.bus)',interface='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.service)'",
    ] {
      _ = try connection.call(.ofBus("AddMatch", rule), until: deadline)
    }
    return connection
  }

  private func update() throws(BusConnection.Failure) {
    guard let connection else { return }
    let get = BusMessage(
      kind: .call, serial: 0, path: Self.object, interface: Self.properties, member: "Get", destination: Self.service, signature: "ss",
      body: BusMessage.body([Self.service, "Metered"]))
    for _ in 0..<Self.rounds {
      let answer = try connection.call(get, until: SystemClock.now + Self.patience)
      metered = answer.variantNumber.flatMap(ManagerMetered.init)
      // Data that was read together with the answer does not wake the thread again.
      guard try Self.takeSignals(connection) else { return }
    }
  }

  /// Reads all available messages. Returns whether one of them was a signal.
  private static func takeSignals(_ connection: BusConnection) throws(BusConnection.Failure) -> Bool {
    var isTold = false
    while let message = try connection.next(until: SystemClock.now) { isTold = isTold || message.kind == .signal }
    return isTold
  }
}
