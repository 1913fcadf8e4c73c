import CHostWatches
import Glibc

/// Reports when the calendar was set: by a person, by a time service that steps it, or after a suspend.
///
/// Does not report slewing, which changes ``ClockOffset`` slowly. Its thread waits in the kernel while nothing happens.
/// - Source: timerfd_create(2), `TFD_TIMER_CANCEL_ON_SET`.
public final class ClockWatch: Sendable {
  private let thread: WatchThread

  /// Starts to watch.
  ///
  /// - Parameters:
  ///   - changed: Called on the watch's thread after the calendar was set, once for several settings in quick succession. It must read the
  ///     clock itself: the previous time is unknown here.
  ///   - failed: Called on the watch's thread, at most once, with a sentence: no changes are reported after that.
  /// - Throws: If no timer, descriptor or thread is available.
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

  /// Stops watching: no calls follow once it returns. Waits for a running `changed`, unless called in it, so the caller must not hold a
  /// lock that `changed` takes.
  public func stop() { thread.stop() }

  private static func arm(_ timer: Int32) -> Bool { taskhost_watches_clock_arm(timer) == 0 || errno == ECANCELED }

  private static func read(_ timer: Int32, _ changed: () -> Void) -> String? {
    var expirations: UInt64 = 0
    let count = Glibc.read(timer, &expirations, MemoryLayout.size(ofValue: expirations))
    // The timer never expires by itself, so a successful read also means that the calendar was set.
    guard count > 0 || errno == ECANCELED else {
      return errno == EAGAIN || errno == EINTR ? nil : "its timer cannot be read: \(String(cString: strerror(errno)))"
    }
    // Arms first: a setting after this is reported again, and `changed` sees a setting before it when it reads the clock.
    guard arm(timer) else { return "its timer cannot be armed: \(String(cString: strerror(errno)))" }
    changed()
    return nil
  }
}
