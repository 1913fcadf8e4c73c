import Glibc
import HostThreads
import Logging
import TaskModel

/// Tells the service manager that has started this process how the host is: that it is ready, what it does, and that its scheduler works.
///
/// A message is a datagram of assignments, a line each. Sending one never waits: what the manager has no room for is lost, but the next beat says
/// it again.
///
/// - Source: sd_notify(3), sd_watchdog_enabled(3)
final class ServiceManager: Sendable {
  private let descriptor: Int32
  /// How often the manager wants to hear that the scheduler works; nil if it does not.
  let watchdog: Duration?

  /// - Parameter environment: Reads a variable. `NOTIFY_SOCKET` is a path, or `@` and an abstract name.
  /// - Returns: Nil if no service manager has started the process, or it cannot be reached; the second is logged.
  init?(environment: (String) -> String?, log: Logger) {
    guard let place = environment("NOTIFY_SOCKET"), !place.isEmpty else { return nil }
    do throws(ErrorNumber) { descriptor = try Self.connect(place) } catch {
      log.warning("the service manager's socket \(place) cannot be used: \(error); it will not hear that the host has launched")
      return nil
    }
    let isMeant = environment("WATCHDOG_PID").map { $0 == String(getpid()) } ?? true
    watchdog = isMeant ? environment("WATCHDOG_USEC").flatMap(Int64.init).flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
  }

  deinit { close(descriptor) }

  private static func connect(_ place: String) throws(ErrorNumber) -> Int32 {
    guard let address = UnixAddress(place) else { throw ErrorNumber(ENAMETOOLONG) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw .last }
    let isConnected = address.withAddress { Glibc.connect(descriptor, $0, $1) == 0 }
    if isConnected { return descriptor }
    let error = ErrorNumber.last
    close(descriptor)
    throw error
  }

  private func tell(_ lines: [String]) {
    let text = Array(lines.joined(separator: "\n").utf8)
    _ = send(descriptor, text, text.count, Int32(MSG_NOSIGNAL))
  }

  /// The host serves.
  func ready(_ status: String) { tell(["READY=1", "STATUS=\(status)"]) }

  /// The host reads its configuration anew; ``ready(_:)`` says when it has.
  func reloading() {
    let now = SystemClock.now.nanoseconds / 1000
    tell(["RELOADING=1", "MONOTONIC_USEC=\(now)", "STATUS=reloading"])
  }

  /// What the host does, for a person: one line.
  func status(_ status: String) { tell(["STATUS=\(status)"]) }

  /// The host drains.
  ///
  /// - Parameter limit: How long that may take; the manager then waits for so long.
  func stopping(_ status: String, within limit: Duration) {
    tell(["STOPPING=1", "STATUS=\(status)", "EXTEND_TIMEOUT_USEC=\(limit.wholeMilliseconds.multiplied(saturatingBy: 1000))"])
  }

  /// The scheduler works.
  func beat(_ status: String) { tell(["WATCHDOG=1", "STATUS=\(status)"]) }
}
