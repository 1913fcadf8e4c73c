import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Launching plugins: at the test host's beginning, and again where a process would have been started again.
extension HostCore {
  /// Launches a plugin on a thread of the host's and waits for it, for as long, in real time, as the watchdog allows.
  ///
  /// - Throws: ``TestHostError/launchRefused(status:reason:)``.
  func launch(_ plugin: HostedPlugin) throws(TestHostError) {
    let isFirst = monitor.locked { plugin.handlers.isEmpty }
    let result = try launchKnowing(plugin)
    try monitor.locked { () throws(TestHostError) in
      if !isFirst {
        let isSame =
          result.handlers.count == plugin.handlers.count && zip(result.handlers, plugin.handlers).allSatisfy { $0.isSame(as: $1) }
        guard isSame else { throw refused(TASKHOST_EINVAL, "launched again, it registered something else than before") }
      }
      plugin.handlers = result.handlers
      plugin.mustRelaunch = false
      // Held until now, and carried out once: a worker that is started again does not submit again.
      guard isFirst else { return }
      do throws(CallFailure) {
        for change in result.changes {
          switch change {
          case .submit(let request): _ = try accept(request)
          case .cancel(let identifier):
            waiting(of: identifier.map { [$0] } ?? plugin.handlers.map(\.identifier)).forEach(cancelRequest)
          }
        }
      } catch {
        throw refused(Int(error.status), "what it submitted while launching was refused: \(error.message)")
      }
    }
  }

  /// Calls the launch function; once more, if it asked for its settings before the host knew whose they are.
  private func launchKnowing(_ plugin: HostedPlugin) throws(TestHostError) -> LaunchSession.Result {
    let entry: @Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status
    let limit: Int
    switch plugin.plugin.source {
    case .function(let function, let handlerLimit):
      entry = function
      limit = handlerLimit
    case .file(let path):
      let number = monitor.locked { newNumber() }
      let file = try PluginFile.load(path, copiedTo: dataDirectory, number: number)
      monitor.locked { plugin.shutdown = file.shutdown }
      let launch = file.launch
      entry = { launch($0, $1) }
      limit = file.handlerLimit
    }
    let known = monitor.locked { plugin.handlers.first?.identifier }
    let (status, first, sentence) = try call(entry, plugin, identifier: known, limit)
    guard first.askedTooEarly, first.surplus == nil, let identifier = first.handlers.first?.identifier else {
      return try checked(status, first, sentence)
    }
    let (secondStatus, second, secondSentence) = try call(entry, plugin, identifier: identifier, limit)
    return try checked(secondStatus, second, secondSentence)
  }

  private func call(
    _ entry: @escaping @Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status, _ plugin: HostedPlugin,
    identifier: String?, _ handlerLimit: Int
  ) throws(TestHostError) -> (taskhost_status, LaunchSession.Result, String) {
    let session = LaunchSession(core: self, plugin: plugin, identifier: identifier, handlerLimit: handlerLimit)
    let handle = Registry.open(session)
    defer { Registry.close(handle) }
    let call = LaunchCall()
    // reason: read-only memory
    nonisolated(unsafe) let table = table
    try PluginThread.start("launch") {
      LastError.set("")
      let status = entry(table, handle)
      call.finish(status, String(cString: LastError.get()))
    }
    guard let (status, sentence) = call.wait(watchdog: options.watchdog) else {
      _ = session.close()
      throw refused(TASKHOST_EUNAVAILABLE, "taskhost_plugin_launch has not returned for \(options.watchdog) of real time")
    }
    return (status, session.close(), sentence)
  }

  private func checked(
    _ status: taskhost_status, _ result: LaunchSession.Result, _ sentence: String
  ) throws(TestHostError) -> LaunchSession.Result {
    if let surplus = result.surplus { throw refused(TASKHOST_EEXISTS, "it registered twice: \(surplus.message)") }
    if let flaw = result.flaw, result.handlers.isEmpty {
      throw refused(Int(flaw.status), "its registration was refused: \(flaw.message)")
    }
    guard status == taskhost_status(TASKHOST_OK) else {
      let reason = sentence.isEmpty ? result.lastErrorLine ?? "" : sentence
      throw refused(Int(status), "taskhost_plugin_launch returned \(status)" + (reason.isEmpty ? "" : ": \(reason)"))
    }
    guard !result.handlers.isEmpty else { throw refused(TASKHOST_EINVAL, "it registered no handler") }
    return result
  }

  private func refused(_ status: Int, _ reason: String) -> TestHostError {
    .launchRefused(status: taskhost_status(status), reason: reason)
  }
}

/// The answer of a launch function, for the thread that waits for it.
private final class LaunchCall: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let monitor = Monitor()
  private var answer: (taskhost_status, String)?

  func finish(_ status: taskhost_status, _ sentence: String) {
    monitor.locked {
      answer = (status, sentence)
      monitor.wakeClock()
    }
  }

  /// `nil` when there is none in time.
  func wait(watchdog: Duration) -> (taskhost_status, String)? {
    let (seconds, attoseconds) = watchdog.components
    let deadline = Monitor.realNanoseconds + UInt64(clamping: seconds) * 1_000_000_000 + UInt64(clamping: attoseconds / 1_000_000_000)
    return monitor.locked {
      while answer == nil, Monitor.realNanoseconds < deadline { monitor.waitAsClock(until: deadline) }
      return answer
    }
  }
}
