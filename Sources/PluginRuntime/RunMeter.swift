import CTaskHostSystem
import HostThreads
import TaskModel

/// Measures a handler's call. Create it on the handler's thread before the call.
struct RunMeter {
  /// Whose processor time counts.
  enum Scope {
    /// The handler's thread's.
    case thread
    /// The whole process's: threads that the plugin made are included.
    case process
  }

  private let scope: Scope
  private let isMeasuringMemory: Bool
  private let began: WallTime
  private let start = SystemClock.now
  private let cpu: Duration

  /// - Parameter measuringMemory: Whether the process's memory belongs to the plugin.
  init(of scope: Scope, measuringMemory: Bool, began: WallTime) {
    self.scope = scope
    isMeasuringMemory = measuringMemory
    self.began = began
    cpu = Self.cpuTime(scope)
  }

  /// The resources used so far.
  func read() -> RunUsage {
    var usage = RunUsage(began: began, handlerTime: SystemClock.now - start, cpuTime: Self.cpuTime(scope) - cpu)
    if isMeasuringMemory { usage.peakMemory = PeakMemory.shared.read(after: usage.handlerTime) }
    return usage
  }

  private static func cpuTime(_ scope: Scope) -> Duration {
    switch scope {
    case .thread: SystemClock.threadTime
    case .process: SystemClock.processTime
    }
  }
}

/// The resources that a handler's call used.
struct RunUsage: Sendable {
  var began: WallTime
  var handlerTime: Duration
  var cpuTime: Duration
  /// Bytes; nil means not measured.
  var peakMemory: Int?
}

/// The peak resident memory of this process. Reading it takes longer than a short run, so short runs share a reading.
private final class PeakMemory: Sendable {
  static let shared = PeakMemory()
  private let known = Guarded((peak: Int?.none, at: MonotonicTime(nanoseconds: 0)))
  private static let validity = Duration.milliseconds(50)

  /// Bytes; nil if the kernel does not report it.
  func read(after handlerTime: Duration) -> Int? {
    known.withLock { known in
      let now = SystemClock.now
      if handlerTime < Self.validity, known.peak != nil, now - known.at < Self.validity { return known.peak }
      let peak = taskhost_process_peak_resident(0)
      known = (peak == 0 ? nil : Int(clamping: peak), now)
      return known.peak
    }
  }
}
