public import CTaskHost

/// The entry point for an author's exported function.
///
/// ```swift
/// @c(taskhost_plugin_launch)
/// public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
///   TaskHostPlugin.launch(Hello.self, api, launch)
/// }
/// ```
///
/// The function must be `public`, otherwise the linker drops it. If imports are internal by default, write `public import TaskHostSDK`.
/// The SDK exports `taskhost_plugin_abi_version`.
public enum TaskHostPlugin {
  /// Launches a plugin: registers its handler, decodes its settings and creates its instance.
  ///
  /// The host may call this more than once in a process; the instance of the last successful launch serves the runs. Called on the host's
  /// launch thread.
  ///
  /// - Returns: `TASKHOST_OK`; the host's status if it refuses the registration; `TASKHOST_EUNSUPPORTED` for a host that is too old;
  ///   `TASKHOST_EINVAL` without a table. Also `TASKHOST_EINVAL`, with an error line in the host's log, for a static property out of range,
  ///   settings that do not decode, or an `init` that throws.
  public static func launch<T: BackgroundTask>(_ type: T.Type, _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch)
    -> taskhost_status
  {
    let table: HostFunctions
    do { table = try HostFunctions(api) } catch { return error.status }
    let entry = PluginEntry.of(type, table)

    // Registration comes first, because the host finds the settings by the identifier. No run starts before the launch is over.
    do throws(Refusal) {
      let status = try register(type, table, entry, launch)
      guard status == taskhost_status(TASKHOST_OK) else { return status }  // no further call: last_error is the host's reason
      let plugin = try makePlugin(type, table, launch)
      entry.install { RunHandler.serve(plugin, table, $0) }
      return taskhost_status(TASKHOST_OK)
    } catch {
      let line = CStrings.printable("\(type.identifier): launch refused: \(error.reason)")
      _ = line.withCString { table.api.pointee.launch_log(launch, taskhost_log_level(TASKHOST_ERROR), $0) }
      return taskhost_status(TASKHOST_EINVAL)
    }
  }

  /// Why a launch is refused, as a sentence for the host's log.
  private struct Refusal: Error {
    let reason: String
  }

  private static func register<T: BackgroundTask>(
    _ type: T.Type, _ table: HostFunctions, _ entry: PluginEntry, _ launch: taskhost_launch
  ) throws(Refusal) -> taskhost_status {
    if let budget = type.budget, budget <= .zero {
      throw Refusal(reason: "its budget is \(budget); give one above zero, or nil for the kind's")
    }
    guard let maxConcurrentRuns = UInt32(exactly: type.maxConcurrentRuns), 1...1024 ~= maxConcurrentRuns else {
      throw Refusal(reason: "its maxConcurrentRuns is \(type.maxConcurrentRuns); give 1 to 1024")
    }
    let identifier: String
    do { identifier = try CStrings.checked(type.identifier, "its identifier") } catch { throw Refusal(reason: error.message) }
    return table.register(
      identifier, type.kind, entry, maxConcurrentRuns: maxConcurrentRuns, displayName: type.displayName, version: type.version,
      budget: type.budget, in: launch)
  }

  private static func makePlugin<T: BackgroundTask>(_ type: T.Type, _ table: HostFunctions, _ launch: taskhost_launch) throws(Refusal) -> T
  {
    let settings: T.Settings
    do {
      if let none = NoSettings() as? T.Settings {
        settings = none
      } else {
        guard let text = table.api.pointee.configuration(launch) else {
          throw Refusal(reason: "the host passed no settings")
        }
        settings = try JSON.decode(T.Settings.self, from: [UInt8](String(cString: text).utf8))
      }
    } catch let error as DecodingError {
      throw Refusal(reason: JSON.describe(error, as: "settings"))
    } catch let error as Refusal {
      throw error
    } catch {
      throw Refusal(reason: "settings: \(error)")
    }
    guard let directory = table.api.pointee.data_directory(launch) else {
      throw Refusal(reason: "the host passed no data directory")
    }
    PluginPlace.note(dataDirectory: String(cString: directory))
    do {
      return try T(LaunchContext(settings: settings, dataDirectory: String(cString: directory), table: table, launch: launch))
    } catch {
      throw Refusal(reason: String(describing: error))
    }
  }
}
