import CTaskHostSystem
import Glibc
import HostThreads
import Logging
import TaskModel

/// Tells the notices of one `[[notify]]`, one after the other, on a thread of its own. Whoever adds one never waits.
final class NoticeQueue: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  /// Tells a notice. May take a while, but ends soon once the descriptor is readable.
  typealias Deliver = @Sendable (Notice, _ stopper: Int32) throws -> Void

  private let monitor = Monitor()
  private var pending = PendingNotices()
  private var isOver = false
  private var hasEnded = false
  private let stopper: Int32
  private let name: String
  private let deliver: Deliver
  private let log: Logger

  /// - Parameter name: Its place in the configuration, for the log.
  init(_ name: String, log: Logger, deliver: @escaping Deliver) throws(HostFailure) {
    self.name = name
    self.log = log
    self.deliver = deliver
    stopper = taskhost_system_event_create()
    guard stopper >= 0 else { throw HostFailure(.temporary, "\(name): eventfd: \(ErrorNumber.last)") }
    do { try HostThread.start("notices") { [self] in run() } } catch {
      close(stopper)
      throw HostFailure(.temporary, "\(name): \(error)")
    }
  }

  /// Returns at once.
  func add(_ notice: Notice) {
    monitor.locked {
      pending.add(notice)
      monitor.signal()
    }
  }

  /// Ends the thread, and a delivery in progress; what waits is not told.
  func stop() {
    taskhost_system_event_set(stopper)
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while !hasEnded { monitor.wait() }
    }
    close(stopper)
  }

  private func run() {
    var lastTrouble: String?
    while let (notice, dropped) = next() {
      var trouble: String?
      do { try deliver(notice, stopper) } catch { trouble = "\(error)" }
      if dropped > 0 { log.warning("\(name): \(dropped) notifications were dropped: they came faster than they could be told") }
      // The same trouble is logged once until it is over.
      if let trouble, trouble != lastTrouble {
        log.warning("\(name): a notification of \(notice.identifier?.rawValue ?? notice.title) was not told: \(trouble)")
      }
      lastTrouble = trouble
    }
    monitor.locked {
      hasEnded = true
      monitor.broadcast()
    }
  }

  /// The next notice, and how many were dropped since the last one; nil once it is over.
  private func next() -> (Notice, dropped: Int)? {
    monitor.locked {
      let before = pending.dropped
      while !isOver {
        switch pending.next(at: SystemClock.now) {
        case .tell(let notice): return (notice, pending.dropped - before)
        case .wait(let moment): monitor.wait(until: moment)
        case .nothing: monitor.wait()
        }
      }
      return nil
    }
  }
}
