import CTaskHost
import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// A plugin's calls about its run, on any thread.
extension LiveRun {
  /// Runs `body` with the lock held if the run is live; throws `stale` otherwise.
  func whileLive<Value>(_ body: () throws(CallFailure) -> Value) throws(CallFailure) -> Value {
    monitor.lock()
    defer { monitor.unlock() }
    guard phase == .live else { throw .stale }
    return try body()
  }

  /// The payload followed by a 0 byte; the run owns the memory.
  func payloadBytes() throws(CallFailure) -> (UnsafeRawPointer, Int) {
    try whileLive { () throws(CallFailure) in
      let count = order.payload.count
      if let payload { return (UnsafeRawPointer(payload), count) }
      // One additional zero byte, so that JSON can be read as a C string.
      guard let copy = malloc(count + 1) else { throw CallFailure(.internal, "out of memory") }
      order.payload.withUnsafeBytes { if let base = $0.baseAddress { copy.copyMemory(from: base, byteCount: count) } }
      copy.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
      payload = copy
      return (UnsafeRawPointer(copy), count)
    }
  }

  /// The request's id; the run owns the memory.
  func requestIDText() throws(CallFailure) -> UnsafePointer<CChar> {
    try whileLive { () throws(CallFailure) in
      if requestID == nil { requestID = UnsafePointer(strdup(order.request.description)) }
      guard let requestID else { throw CallFailure(.internal, "out of memory") }
      return requestID
    }
  }

  /// Whole milliseconds until expiration: positive before the run has expired, 0 or negative afterwards.
  func remainingMilliseconds() throws(CallFailure) -> Int64 {
    try whileLive {
      let now = clock.now
      return stop == nil ? max(1, (deadline - now).wholeMilliseconds) : min(0, (expiredAt - now).wholeMilliseconds)
    }
  }

  /// Whole milliseconds until the forced stop; before expiration, the whole grace.
  func graceMilliseconds() throws(CallFailure) -> Int64 {
    try whileLive { max(0, (stop == nil ? order.contract.grace : forceAt - clock.now).wholeMilliseconds) }
  }

  /// The descriptor that is readable once the run has expired; the run closes it.
  func descriptor() throws(CallFailure) -> Int32 {
    try whileLive { () throws(CallFailure) in
      if eventDescriptor < 0 {
        eventDescriptor = taskhost_system_event_create()
        guard eventDescriptor >= 0 else { throw CallFailure(.unavailable, "no descriptor is left: \(String(cString: strerror(errno)))") }
        if stop != nil { _ = taskhost_system_event_set(eventDescriptor) }
      }
      return eventDescriptor
    }
  }

  /// Sleeps without holding the lock. Throws `expired` as soon as the run expires, `stale` as soon as it is over.
  func sleep(_ duration: Duration) throws(CallFailure) {
    let end = clock.now + duration
    monitor.lock()
    defer { monitor.unlock() }
    while true {
      guard phase == .live else { throw .stale }
      guard stop == nil else { throw CallFailure(.expired, "the run has expired") }
      guard clock.now < end else { return }
      clock.wait(monitor, until: end, for: self)
    }
  }

  /// Records progress. A later deadline takes effect when the old one comes.
  ///
  /// - Returns: The progress to report; nil if the rate limit is reached.
  func setProgress(completed: UInt64, total: UInt64) throws(CallFailure) -> RunProgress? {
    try whileLive {
      let progress = RunProgress(completed: completed, total: total)
      report.progress = progress
      if progress.completed > highestCompleted {
        highestCompleted = progress.completed
        if let stallLimit { stallEnd = clock.now + stallLimit }
      }
      return !clock.limitsReports || progressReports.pass(at: clock.now) ? progress : nil
    }
  }

  /// Keeps the line with the run's last lines, unless the rate limit is reached.
  ///
  /// - Returns: The lines to report: a line about dropped lines, if any, and the line itself; empty if it is dropped.
  func log(_ line: LogLine) throws(CallFailure) -> [LogLine] {
    try whileLive {
      guard !clock.limitsReports || lines.pass(at: clock.now) else { return [] }
      let told = [droppedLines(), line].compactMap(\.self)
      for line in told { keep(line) }
      return told
    }
  }

  /// With the lock held.
  func keep(_ line: LogLine) {
    if report.log.count == Limits.keptLogLines { report.log.removeFirst() }
    report.log.append(line)
  }

  /// With the lock held: a line about dropped lines; nil if none were dropped.
  func droppedLines() -> LogLine? {
    let dropped = lines.takeRefused()
    guard dropped > 0 else { return nil }
    return LogLine(time: services.wallTime, level: .warning, message: "\(dropped) log lines were dropped: too many at once")
  }

  /// Changes the report of the run.
  func change(_ body: (inout RunReport) -> Void) throws(CallFailure) {
    let changed = try whileLive {
      body(&report)
      return report
    }
    clock.changed(changed, of: self)
  }
}
