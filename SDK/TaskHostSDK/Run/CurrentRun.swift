import CTaskHost
package import Logging
import Synchronization

/// A run that code without its context may use. Once the run is over, its calls do not reach the host.
package final class GatedRun: Sendable {
  /// For calls on the run's own thread; from others it is valid only within ``call(_:)``.
  package let run: RunHandle
  private let gate = CallGate()

  package init(_ run: RunHandle) { self.run = run }

  /// Calls `body`, unless the run is over.
  ///
  /// - Returns: What `body` returns; `nil` if the run is over.
  package func call<Result>(_ body: (RunHandle) throws -> Result) rethrows -> Result? { try gate.pass { try body(run) } }

  /// Ends the run. The handle is not used after this returns.
  package func close() { gate.close() }

  /// Writes a line to the run's log.
  ///
  /// - Returns: Whether the host accepted it; `nil` if the run is over.
  package func log(_ level: Logger.Level, _ text: String) -> Bool? {
    call { run in
      CStrings.printable(text).withCString { run.functions.pointee.log(run.task, level.cValue, $0) } == taskhost_status(TASKHOST_OK)
    }
  }
}

/// Finds the run that calling code belongs to: loggers and activities of Apple's API have no context.
package enum CurrentRun {
  /// The run of the calling Swift task, in which its handler was called. Threads and queues do not pass it on.
  @TaskLocal package static var own: GatedRun?

  private static let live = Mutex<[GatedRun]>([])

  /// Lists `run` as live while `body` runs.
  package static func including<Result>(_ run: GatedRun, _ body: () -> Result) -> Result {
    live.withLock { $0.append(run) }
    defer { live.withLock { $0.removeAll { $0 === run } } }
    return body()
  }

  /// The run of the calling Swift task, otherwise the only live one; `nil` if there is none, or several.
  package static var certain: GatedRun? {
    own ?? live.withLock { $0.count == 1 ? $0.first : nil }
  }

  /// The run of the calling Swift task, otherwise the oldest live one.
  package static var any: GatedRun? { own ?? live.withLock { $0.first } }
}

/// The place of a plugin, for code without a context.
package enum PluginPlace {
  private static let directory = Mutex<String?>(nil)

  /// The absolute path of the plugin's own writable folder; `nil` before the first registration.
  package static var dataDirectory: String? { directory.withLock { $0 } }

  package static func note(dataDirectory: String) { directory.withLock { $0 = dataDirectory } }
}
