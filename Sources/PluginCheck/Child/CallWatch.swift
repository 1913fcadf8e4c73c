import CCrashCell
import CTaskHost
import Glibc
import HostThreads

/// Watches the plugin's handlers and its calls to the host.
final class CallWatch: @unchecked Sendable {  // reason: what changes is touched with `monitor` held
  static let shared = CallWatch()

  /// A run whose handler has been called and has not returned.
  private struct Live {
    let thread: Int32
    /// An address in the frame that calls the handler. The handler's stack lies below it.
    let frame: UInt
    let locale: locale_t?
    var contextOnStack = false
    let credentials: String
    var descriptor: Int32 = -1
  }

  private let monitor = Monitor()
  private var reporter: CaseReporter?
  private var live: [taskhost_task: Live] = [:]
  private var counts: [String: Int] = [:]
  private var threads: Set<Int32> = []
  private var marks: ProcessMarks?
  private var looksLeft = 60
  private var isLaunching = false
  /// The memory that the host lends to the plugin.
  let memory = LentMemory()

  func begin(_ reporter: CaseReporter) { monitor.locked { self.reporter = reporter } }

  /// Sets the marks that the plugin must preserve, from now on also during runs.
  func watch(_ marks: ProcessMarks) { monitor.locked { self.marks = marks } }

  func beganLaunch() { monitor.locked { isLaunching = true } }

  func endedLaunch() {
    monitor.locked { isLaunching = false }
    memory.endLaunch()
  }

  /// Records that the host calls handlers on this thread.
  func noteHandlerThread() {
    let number = taskhost_crash_thread_number()
    guard ThreadList.name(of: number) != "deadlines" else { return }
    monitor.locked { _ = threads.insert(number) }
  }

  var handlerThreads: Set<Int32> { monitor.locked { threads } }

  /// The number of calls of a function of the table.
  func count(of function: String) -> Int { monitor.locked { counts[function] ?? 0 } }

  /// The number of handlers that have been called and have not returned.
  var unreturned: Int { monitor.locked { live.count } }

  // MARK: The handler

  /// Call it on the run's thread, before the handler.
  func began(_ task: taskhost_task, frame: UInt) {
    let number = taskhost_crash_thread_number()
    let credentials = ProcessMarks.credentials(of: "thread-self")
    monitor.locked {
      threads.insert(number)
      live[task] = Live(thread: number, frame: frame, locale: uselocale(nil), credentials: credentials)
    }
    memory.begin(task)
  }

  /// Call it on the run's thread, after the handler has returned.
  func returned(_ task: taskhost_task, isExpired: Bool) {
    memory.end(task)
    guard let run = monitor.locked({ live.removeValue(forKey: task) }), let reporter = monitor.locked({ self.reporter }) else { return }
    if run.contextOnStack {
      reporter.breach(
        "the handler returned with an expiration handler set whose context lies on the handler's stack", HeaderRules.context)
    }
    if uselocale(nil) != run.locale { reporter.remark("the handler left its thread's locale changed", HeaderRules.marks["locale"] ?? "") }
    if run.descriptor >= 0 { check(descriptor: run.descriptor, isExpired: isExpired, reporter) }
    let credentials = ProcessMarks.credentials(of: "thread-self")
    if credentials != run.credentials {
      reporter.breach(
        "the handler left the credentials of its thread changed: from \(run.credentials) to \(credentials)",
        HeaderRules.marks["credentials"] ?? "")
    }
  }

  private func check(descriptor: Int32, isExpired: Bool, _ reporter: CaseReporter) {
    guard fcntl(descriptor, F_GETFD) != -1 else {
      return reporter.breach("the handler closed the descriptor of expiration_fd", HeaderRules.descriptor)
    }
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if isExpired, poll(&entry, 1, 0) == 0 {
      reporter.breach("the handler read the descriptor of expiration_fd until it was empty", HeaderRules.descriptor)
    }
  }

  // MARK: The calls

  /// Records a call of a function and the status that it returned.
  func answered(_ function: String, _ task: taskhost_task?, _ status: taskhost_status, _ sentence: String) {
    monitor.locked { counts[function, default: 0] += 1 }
    lookAtMarks()
    guard status != taskhost_status(TASKHOST_OK), let reporter = monitor.locked({ self.reporter }) else { return }
    switch Int(status) {
    case Int(TASKHOST_EINVAL): reporter.warn("\(function)() was called with a malformed argument: \(sentence)", HeaderRules.arguments)
    case Int(TASKHOST_ELAUNCHED): reporter.breach("\(function)() was called after the launch was over", HeaderRules.late)
    case Int(TASKHOST_ESTALE): if let task { stale(function, task, reporter) }
    default: break
    }
  }

  /// Records a call for the configuration or the data directory.
  func askedOfLaunch(_ function: String) {
    guard let reporter = monitor.locked({ isLaunching ? nil : self.reporter }) else { return }
    reporter.breach("\(function)() was called after the launch was over", HeaderRules.late)
  }

  /// Compares the marks during a run, because other runs would see even a temporary change.
  private func lookAtMarks() {
    let (before, reporter) = monitor.locked { () -> (ProcessMarks?, CaseReporter?) in
      guard !live.isEmpty, looksLeft > 0 else { return (nil, nil) }
      looksLeft -= 1
      return (marks, self.reporter)
    }
    if let before, let reporter { ProcessMarks().compare(with: before, after: "a handler, in the middle of its run,", reporter) }
  }

  private func stale(_ function: String, _ task: taskhost_task, _ reporter: CaseReporter) {
    // An expiration handler that was not cleared can still be running when its run ends.
    guard ThreadList.name(of: taskhost_crash_thread_number()) != "deadlines" else { return }
    let what = task == 0 ? "with the handle 0" : "with the handle of a run that is over or never existed"
    reporter.breach("\(function)() was called \(what)", HeaderRules.stale)
  }

  /// Records that an expiration handler was set, or cleared with NULL.
  func setExpirationHandler(_ task: taskhost_task, isSet: Bool, context: UnsafeMutableRawPointer?) {
    monitor.locked {
      guard let run = live[task] else { return }
      let address = UInt(bitPattern: context)
      live[task]?.contextOnStack = isSet && address < run.frame && address > run.frame &- (8 << 20)
    }
  }

  func gave(descriptor: Int32, to task: taskhost_task) { monitor.locked { live[task]?.descriptor = descriptor } }
}
