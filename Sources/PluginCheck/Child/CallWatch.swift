import CCrashCell
import CTaskHost
import Glibc
import HostThreads

/// Looks on while the plugin calls the host and while its handlers run.
final class CallWatch: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  /// The one of this process.
  static let shared = CallWatch()

  /// A run whose handler has been called and has not returned.
  private struct Live {
    let thread: Int32
    /// An address in the frame that calls the handler: what lies below it is the run's stack.
    let frame: UInt
    let locale: locale_t?
    var contextOnStack = false
    var descriptor: Int32 = -1
    var payload: (bytes: UnsafeRawPointer, copy: [UInt8])?
  }

  private let monitor = Monitor()
  private var reporter: CaseReporter?
  private var live: [taskhost_task: Live] = [:]
  private var counts: [String: Int] = [:]
  private var threads: Set<Int32> = []

  /// Where to tell what is seen.
  func begin(_ reporter: CaseReporter) { monitor.locked { self.reporter = reporter } }

  /// The threads that handlers have been called on.
  var handlerThreads: Set<Int32> { monitor.locked { threads } }

  /// How often a function of the table was called.
  func count(of function: String) -> Int { monitor.locked { counts[function] ?? 0 } }

  /// How many handlers have been called and have not returned.
  var unreturned: Int { monitor.locked { live.count } }

  // MARK: The handler

  /// On the run's thread, before the handler is called.
  func began(_ task: taskhost_task, frame: UInt) {
    let number = taskhost_crash_thread_number()
    monitor.locked {
      threads.insert(number)
      live[task] = Live(thread: number, frame: frame, locale: uselocale(nil))
    }
  }

  /// On the run's thread, when the handler has returned.
  func returned(_ task: taskhost_task, isExpired: Bool) {
    guard let run = monitor.locked({ live.removeValue(forKey: task) }), let reporter = monitor.locked({ self.reporter }) else { return }
    if run.contextOnStack {
      reporter.breach(
        "the handler returned with its expiration handler set, and the context of that lies on the handler's stack", HeaderRules.context)
    }
    if uselocale(nil) != run.locale { reporter.breach("the handler left its thread's locale changed", HeaderRules.marks["locale"] ?? "") }
    if run.descriptor >= 0 { check(descriptor: run.descriptor, isExpired: isExpired, reporter) }
    if let payload = run.payload {
      let now = UnsafeRawBufferPointer(start: payload.bytes, count: payload.copy.count)
      if !now.elementsEqual(payload.copy) { reporter.breach("the handler changed the bytes of its payload", HeaderRules.payload) }
    }
  }

  private func check(descriptor: Int32, isExpired: Bool, _ reporter: CaseReporter) {
    guard fcntl(descriptor, F_GETFD) != -1 else {
      return reporter.breach("the handler closed the descriptor of expiration_fd", HeaderRules.descriptor)
    }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if isExpired, poll(&entry, 1, 0) == 0 {
      reporter.breach("the handler read the descriptor of expiration_fd empty", HeaderRules.descriptor)
    }
  }

  // MARK: The calls

  /// A function was called and has answered a status.
  func answered(_ function: String, _ task: taskhost_task?, _ status: taskhost_status, _ sentence: String) {
    monitor.locked { counts[function, default: 0] += 1 }
    guard status != taskhost_status(TASKHOST_OK), let reporter = monitor.locked({ self.reporter }) else { return }
    switch Int(status) {
    case Int(TASKHOST_EINVAL): reporter.warn("\(function)() was called with a malformed argument: \(sentence)", HeaderRules.arguments)
    case Int(TASKHOST_ELAUNCHED): reporter.breach("\(function)() was called after the launch was over", HeaderRules.late)
    case Int(TASKHOST_ESTALE): if let task { stale(function, task, reporter) }
    default: break
    }
  }

  /// As ``answered(_:_:_:_:)``, for functions that answer no status.
  func answered(_ function: String, _ task: taskhost_task, isStale: Bool) {
    answered(function, task, taskhost_status(isStale ? TASKHOST_ESTALE : TASKHOST_OK), "")
  }

  private func stale(_ function: String, _ task: taskhost_task, _ reporter: CaseReporter) {
    // An expiration handler that was not cleared may still be at work when its run ends.
    guard ThreadList.name(of: taskhost_crash_thread_number()) != "deadlines" else { return }
    let what = task == 0 ? "with the handle 0" : "with the handle of a run that is over, or never was"
    reporter.breach("\(function)() was called \(what)", HeaderRules.stale)
  }

  /// An expiration handler was set, or cleared with NULL.
  func setExpirationHandler(_ task: taskhost_task, isSet: Bool, context: UnsafeMutableRawPointer?) {
    monitor.locked {
      guard let run = live[task] else { return }
      let address = UInt(bitPattern: context)
      live[task]?.contextOnStack = isSet && address < run.frame && address > run.frame &- (8 << 20)
    }
  }

  /// The run was given its descriptor.
  func gave(descriptor: Int32, to task: taskhost_task) { monitor.locked { live[task]?.descriptor = descriptor } }

  /// The run was given its payload.
  func gave(payload: UnsafeRawPointer, _ length: Int, to task: taskhost_task) {
    let copy = [UInt8](UnsafeRawBufferPointer(start: payload, count: length))
    monitor.locked { if live[task] != nil { live[task]?.payload = (payload, copy) } }
  }
}
