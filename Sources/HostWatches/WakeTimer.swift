import CHostWatches
import Glibc
import HostThreads

/// Wakes the machine from sleep at a time.
///
/// Nobody waits for the timer: a machine that is awake then needs no alarm, and one that sleeps is woken by the kernel.
/// - Source: timerfd_create(2), `CLOCK_BOOTTIME_ALARM`; capabilities(7), `CAP_WAKE_ALARM`.
public final class WakeTimer: Sendable {
  /// Why the machine cannot be woken.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A clause without a full stop, with what to do.
    public let description: String
  }

  private let timer: Int32
  /// The time that was set, on the calendar in milliseconds since 1970; nil for none.
  private let set = Guarded<Int64?>(nil)

  /// - Parameter clocks: The directory of the clocks that can wake the machine.
  public init(clocks: String = "/sys/class/rtc") throws(Failure) {
    guard let names = try? DirectoryNames.list(at: clocks), !names.isEmpty else {
      throw Failure(description: "this machine has no clock that wakes it (\(clocks) is empty)")
    }
    timer = taskhost_watches_wake_create()
    guard timer >= 0 else {
      let (code, reason) = (errno, ErrorNumber.last)
      let remedy = code == EPERM ? ": give the host CAP_WAKE_ALARM (AmbientCapabilities=CAP_WAKE_ALARM)" : ""
      throw Failure(description: "timerfd_create: \(reason)\(remedy)")
    }
  }

  deinit { close(timer) }

  /// Wakes the machine at a time in milliseconds since 1970, and no longer at the one before; nil: at none.
  public func set(_ time: Int64?) throws(Failure) {
    set.withLock { $0 = time }
    try arm()
  }

  /// Sets the same time again. Call it after the calendar was set.
  public func rearm() throws(Failure) { try arm() }

  /// How long until the machine is woken; nil if it is not.
  package var left: Duration? {
    // The kernel goes on to count for a timer of this clock that was disarmed.
    guard set.withLock({ $0 }) != nil else { return nil }
    let left = taskhost_watches_wake_left(timer)
    return left > 0 ? .nanoseconds(left) : nil
  }

  /// A descriptor that is readable when the time has come.
  package var descriptor: Int32 { timer }

  private func arm() throws(Failure) {
    let result = set.withLock { time in
      let offset = ClockOffset.now().wallLessBoot.components
      let milliseconds = time.map { Self.sinceBoot($0, offsetSeconds: offset.seconds, offset.attoseconds) } ?? 0
      return taskhost_watches_wake_arm(timer, milliseconds)
    }
    guard result == 0 else { throw Failure(description: "timerfd_settime: \(ErrorNumber.last)") }
  }

  /// Nanoseconds from the boot to a time, at least 1: a time that has passed expires at once. Saturates.
  private static func sinceBoot(_ time: Int64, offsetSeconds seconds: Int64, _ attoseconds: Int64) -> Int64 {
    let offset = seconds.multipliedReportingOverflow(by: 1000).partialValue &+ attoseconds / 1_000_000_000_000_000
    let (left, overflow) = time.subtractingReportingOverflow(offset)
    let (nanoseconds, isBeyond) = left.multipliedReportingOverflow(by: 1_000_000)
    return overflow || isBeyond ? (time > 0 ? .max : 1) : max(1, nanoseconds)
  }
}
