import Glibc
import HostThreads
import Logging
import Synchronization
public import TaskModel
import WorkerProcesses

/// The plugins that a debugger holds, by their first identifiers.
final class DebuggedPlugins: Sendable {
  /// The process of each one's debugger.
  private let debuggers = Mutex<[TaskIdentifier: Int32]>([:])

  enum Answer { case begun, held, anothers(Int32) }

  func begin(_ identifier: TaskIdentifier, _ process: Int32) -> Answer {
    debuggers.withLock { debuggers in
      if let present = debuggers[identifier] { return present == process ? .held : .anothers(present) }
      debuggers[identifier] = process
      return .begun
    }
  }

  func end(_ identifier: TaskIdentifier) { debuggers.withLock { _ = $0.removeValue(forKey: identifier) } }
}

extension Host {
  /// How long a worker may take to exist.
  private static let debuggedStart = Duration.seconds(10)

  /// Suspends the budgets of a plugin's runs, and its other time limits, until the debugger's process ends, and starts its worker if it has
  /// none. Afterwards each live run has its whole budget before it. Called again by the same process, it starts the worker anew if that has
  /// ended.
  ///
  /// - Parameter process: The debugger's process, on this machine.
  /// - Returns: The number of the worker's process, which may still be launching the plugin.
  public func debug(_ identifier: TaskIdentifier, by process: Int32) async throws(RequestRefusal) -> Int32 {
    guard let plugin = registry.registered.first(where: { $0.contracts.contains { $0.identifier == identifier } }) else {
      throw RequestRefusal(.notFound, "no plugin has registered \(identifier): see taskhost plugins list")
    }
    guard case .process(let worker) = plugin.placement else {
      throw RequestRefusal(
        .conflict,
        "\(identifier) runs in a thread of the host, which a debugger would stop as a whole: give it isolation = \"process\", or attach to process \(getpid())"
      )
    }
    let descriptor = try WatchedProcess.open(process)
    // Budgets are suspended for all identifiers of a worker, so they end together too.
    let name = plugin.contracts.first?.identifier ?? identifier
    let isNew: Bool
    switch debugged.begin(name, process) {
    case .begun: isNew = true
    case .held: isNew = false
    case .anothers(let other):
      Glibc.close(descriptor)
      throw RequestRefusal(.conflict, "process \(other) debugs \(name) already: end it first")
    }
    let started: Result<Int32?, RequestRefusal> = await withCheckedContinuation { continuation in
      do throws(HostThread.Failure) {
        try HostThread.start("debugger") { [self] in
          worker.suspendBudgets(true)
          if isNew { tellDebugged(name, process) }
          let number = worker.waitForProcess(by: SystemClock.now + Self.debuggedStart)
          continuation.resume(returning: .success(number))
          guard isNew else { return _ = Glibc.close(descriptor) }
          WatchedProcess.waitForEnd(descriptor)
          endDebugging(name, worker)
        }
      } catch {
        Glibc.close(descriptor)
        if isNew { debugged.end(name) }
        continuation.resume(returning: .failure(RequestRefusal(.unavailable, "no thread can watch the debugger: \(error)")))
      }
    }
    guard let number = try started.get() else {
      throw RequestRefusal(.unavailable, "the worker of \(identifier) did not start: see the host's log")
    }
    return number
  }

  private func tellDebugged(_ identifier: TaskIdentifier, _ process: Int32) {
    board.raise(
      Problem(
        .debugged, of: identifier.rawValue, "process \(process) debugs \(identifier): the budgets of its runs are suspended",
        remedy: "end the debugger when it is no longer needed", since: SystemClock().wallTime, needsAction: false), to: log, .notice)
  }

  private func endDebugging(_ identifier: TaskIdentifier, _ worker: PluginWorker) {
    worker.suspendBudgets(false)
    debugged.end(identifier)
    board.clear(.debugged, of: identifier.rawValue)
    log.notice("the debugger of \(identifier) has ended: budgets begin anew")
  }
}
