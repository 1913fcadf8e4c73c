import CHostWatches
import Glibc

/// Tells when the calendar was set: by a person, by a time service that steps it, or after a suspend.
///
/// A calendar that is only slewed is not told; what ``ClockOffset`` says of it grows slowly. Its thread waits in the kernel for as long as
/// nothing happens.
/// - Source: timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`.
public final class ClockWatch: Sendable {
  private let thread: WatchThread

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - changed: Called on the watch's thread after the calendar was set, once for several settings that follow one another at once. Read
  ///     the clock in it: what it was set from is not known here.
  ///   - failed: Called on the watch's thread, at most once, with a sentence: from then on nothing is told.
  /// - Throws: If the kernel has no such timer, descriptor or thread to give.
  public init(
    changed: @escaping @Sendable () -> Void, failed: @escaping @Sendable (String) -> Void
  ) throws(WatchFailure) {
    let timer = taskhost_watches_clock_create()
    guard timer >= 0 else { throw WatchFailure(subject: "the clock", step: "timerfd_create", code: errno) }
    do throws(WatchFailure) {
      guard Self.arm(timer) else { throw WatchFailure(subject: "the clock", step: "timerfd_settime", code: errno) }
      thread = try WatchThread("clock", subject: "the clock", descriptor: timer) {
        Self.read(timer, changed)
      } ended: { problem in
        close(timer)
        if let problem { failed("the clock is no longer watched: \(problem); restart the host") }
      }
    } catch {
      close(timer)
      throw error
    }
  }

  deinit { thread.end() }

  /// Stops watching: once it returns, nothing is told any more. Waits for a `changed` that is going on, unless called in it; so the caller
  /// holds no lock that `changed` takes.
  public func stop() { thread.stop() }

  private static func arm(_ timer: Int32) -> Bool { taskhost_watches_clock_arm(timer) == 0 || errno == ECANCELED }

  private static func read(_ timer: Int32, _ changed: () -> Void) -> String? {
    var expirations: UInt64 = 0
    let count = Glibc.read(timer, &expirations, MemoryLayout.size(ofValue: expirations))
    // It expires at the end of time: that it was read means the same.
    guard count > 0 || errno == ECANCELED else {
      return errno == EAGAIN || errno == EINTR ? nil : "its timer cannot be read: \(String(cString: strerror(errno)))"
    }
    // Armed first: a setting after this is told again, one before it is seen by whoever reads the clock in `changed`.
    guard arm(timer) else { return "its timer cannot be armed: \(String(cString: strerror(errno)))" }
    changed()
    return nil
  }
}
