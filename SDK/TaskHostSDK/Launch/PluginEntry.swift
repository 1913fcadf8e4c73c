package import CTaskHost
import Synchronization

/// The handler's context for the host, which finds what serves the runs.
///
/// It lives as long as the process and every launch registers the same one: runs start only after a successful launch, but a registration
/// of an earlier launch may still be in use.
package final class PluginEntry: Sendable {
  package typealias Serve = @Sendable (taskhost_task) -> taskhost_result

  /// A struct, because each access to a plain closure in a generic `Mutex` wraps it once more, until calling it overflows the stack.
  private struct Server {
    let serve: Serve
  }

  private let server = Mutex<Server?>(nil)

  package init() {}

  /// Serves the runs that start from now on with `serve`. Called by each successful launch.
  package func install(_ serve: @escaping Serve) {
    server.withLock { $0 = Server(serve: serve) }
  }

  /// - Returns: The handler's result; a failure before the first successful launch.
  func run(_ task: taskhost_task) -> taskhost_result {
    guard let server = server.withLock({ $0 }) else { return taskhost_result(TASKHOST_FAILURE) }
    return server.serve(task)
  }

  /// The one C handler that all Swift plugins register.
  package static let handler: @convention(c) (taskhost_task, UnsafeMutableRawPointer?) -> taskhost_result = { task, context in
    guard let context else { return taskhost_result(TASKHOST_FAILURE) }
    return Unmanaged<PluginEntry>.fromOpaque(context).takeUnretainedValue().run(task)
  }

  /// The entry of a plugin type under a host's table, created by the first launch.
  static func of<Plugin: BackgroundTask>(_ plugin: Plugin.Type, _ table: HostFunctions) -> PluginEntry {
    let key = Key(plugin: ObjectIdentifier(plugin), table: UInt(bitPattern: table.api))
    return entries.withLock { entries in
      if let entry = entries[key] { return entry }
      let entry = PluginEntry()
      entries[key] = entry
      return entry
    }
  }

  private struct Key: Hashable {
    let plugin: ObjectIdentifier
    let table: UInt
  }

  private static let entries = Mutex<[Key: PluginEntry]>([:])
}
