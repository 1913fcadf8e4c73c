import Glibc

/// How far the calendar is ahead of the time since boot (suspends included). It changes only when the calendar is set.
public struct ClockOffset: Sendable, Hashable {
  /// CLOCK_REALTIME minus CLOCK_BOOTTIME, in whole milliseconds.
  public let wallLessBoot: Duration
  /// The id of the current boot; empty if unknown.
  public let bootID: String

  /// Restores a stored offset.
  public init(wallLessBoot: Duration, bootID: String) {
    self.wallLessBoot = wallLessBoot
    self.bootID = bootID
  }

  /// The current offset, to about a millisecond.
  ///
  /// - Parameter bootIDFile: The kernel's file with the boot id.
  public static func now(bootIDFile: String = "/proc/sys/kernel/random/boot_id") -> ClockOffset {
    ClockOffset(wallLessBoot: .milliseconds(measured()), bootID: firstLine(of: bootIDFile))
  }

  /// How far the calendar was set since `earlier` (positive: forward), including slewing; nil if the machine was rebooted or that is
  /// unknown. Measuring can add a millisecond or two.
  public func moved(since earlier: ClockOffset) -> Duration? {
    guard !bootID.isEmpty, bootID == earlier.bootID else { return nil }
    return wallLessBoot - earlier.wallLessBoot
  }

  /// How long the machine has slept since it booted.
  public static func bootLessMonotonic() -> Duration {
    .nanoseconds(nanoseconds(CLOCK_BOOTTIME) - nanoseconds(CLOCK_MONOTONIC))
  }

  /// Reads the calendar before and after the other clock, to exclude a pause between, and takes the closest of a few readings.
  private static func measured() -> Int64 {
    var best: (width: Int64, offset: Int64)?
    for _ in 0..<8 {
      let before = nanoseconds(CLOCK_REALTIME)
      let boot = nanoseconds(CLOCK_BOOTTIME)
      let width = nanoseconds(CLOCK_REALTIME) - before
      guard width >= 0, width < best?.width ?? .max else { continue }
      best = (width, before + width / 2 - boot)
      if width < 100_000 { break }
    }
    let offset = best?.offset ?? nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_BOOTTIME)
    return offset / 1_000_000
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func firstLine(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self)
  }
}
