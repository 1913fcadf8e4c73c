import Glibc
import HostThreads
import TaskModel

/// Asks systemd-logind to delay a shutdown of the machine while the host asks for it.
///
/// logind waits at most `InhibitDelayMaxSec=`, 5 s unless the operator has changed that. A machine without a bus or without logind delays
/// nothing. The lock ends with this process, however that ends.
/// - Source: org.freedesktop.login1(5), `Inhibit`; https://systemd.io/INHIBITOR_LOCKS
public final class ShutdownInhibitor: Sendable {
  private struct State {
    var isWanted = false
    /// Whether the thread runs. It ends when it has nothing to do.
    var isServing = false
    /// The descriptor that logind gave: the lock ends when it is closed.
    var lock: Int32?
    var hasSaid = false
  }

  private static let service = "org.freedesktop.login1"
  /// The time limit of an exchange with the bus.
  private static let patience = Duration.seconds(2)

  private let bus: String?
  private let say: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// Does nothing before ``set(_:)``.
  ///
  /// - Parameters:
  ///   - bus: The socket of the system bus; nil: there is none.
  ///   - say: Called at most once, on a thread of this object, with a sentence: logind is there and refuses the lock.
  public init(bus: String? = ConditionSources.systemBusSocket, say: @escaping @Sendable (String) -> Void) {
    self.bus = bus
    self.say = say
  }

  deinit { if let lock = state.withLock({ $0.lock }) { close(lock) } }

  /// Waits for an exchange with logind in progress.
  ///
  /// - Returns: Whether logind delays a shutdown for this host then.
  package func isHeld() -> Bool {
    state.wait(until: SystemClock.now + Self.patience * 2) { state -> Bool? in state.isServing ? nil : state.lock != nil } ?? false
  }

  /// Sets whether a shutdown is to be delayed. Returns at once; a lock that is not wanted any more has ended when it returns.
  public func set(_ isWanted: Bool) {
    let starts = state.withLock { state in
      state.isWanted = isWanted
      if !isWanted, let lock = state.lock {
        close(lock)
        state.lock = nil
      }
      guard isWanted, state.lock == nil, !state.isServing, let bus, access(bus, F_OK) == 0 else { return false }
      state.isServing = true
      return true
    }
    guard starts else { return }
    do throws(HostThread.Failure) { try HostThread.start("inhibitor") { [self] in serve() } } catch {
      state.withLock { $0.isServing = false }
    }
  }

  private func serve() {
    let (lock, problem) = take()
    let isTold = state.withLock { state in
      state.isServing = false
      if let lock {
        if state.isWanted { state.lock = lock } else { close(lock) }
      }
      defer { state.hasSaid = state.hasSaid || problem != nil }
      return !state.hasSaid
    }
    state.broadcast()
    if isTold, let problem { say(problem) }
  }

  /// The lock, or why there is none; neither without a bus or logind.
  private func take() -> (lock: Int32?, problem: String?) {
    guard let bus else { return (nil, nil) }
    do throws(BusConnection.Failure) {
      let deadline = SystemClock.now + Self.patience
      let connection = try BusConnection(bus, takesDescriptors: true, until: deadline)
      let answer = try connection.call(
        BusMessage(
          kind: .call, serial: 0, path: "/org/freedesktop/login1", interface: "\(Self.service).Manager", member: "Inhibit",
          destination: Self.service, signature: "ssss",
          body: BusMessage.body(["shutdown", "taskhost", "execution assertions are held", "delay"])), until: deadline)
      let hasLock = answer.kind == .answer && answer.signature == "h" && answer.descriptorCount == 1
      if hasLock, let lock = connection.takeDescriptor() { return (lock, nil) }
      // Without logind, nobody has the name.
      let unknown = ["org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner"]
      guard let name = answer.errorName, unknown.contains(name) else {
        return (nil, "systemd-logind gives no lock that delays a shutdown: \(answer.errorName ?? "its answer has no descriptor")")
      }
      return (nil, nil)
    } catch { return (nil, nil) }
  }
}
