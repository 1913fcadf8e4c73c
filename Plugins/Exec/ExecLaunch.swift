package import CTaskHost
internal import StrictText
import Synchronization
internal import TaskHostSDK

/// The entry point for the library's exported function.
///
/// One library serves all `[command."ID"]` tables of a host: the host launches it once for each, with the table as its settings.
package enum ExecLaunch {
  /// The number of runs that the registration allows; the configuration sets the number that a command gets.
  static let mostRuns: UInt32 = 1024

  /// Registers the command that the settings describe. Called on the host's launch thread.
  package static func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
    let table: HostFunctions
    do { table = try HostFunctions(api) } catch { return error.status }
    func refuse(_ reason: String) -> taskhost_status {
      _ = CStrings.printable(reason).withCString { table.api.pointee.launch_log(launch, taskhost_log_level(TASKHOST_ERROR), $0) }
      return taskhost_status(TASKHOST_EINVAL)
    }
    guard let text = table.api.pointee.configuration(launch), let folder = table.api.pointee.data_directory(launch) else {
      return refuse("this library runs the commands of [command.\"ID\"] tables: remove it from the plugin directory")
    }
    let dataDirectory = String(cString: folder)
    let settings: CommandSettings
    do throws(SettingsProblems) { settings = try CommandSettings(json: String(cString: text)) } catch { return refuse(error.description) }
    do throws(StartFailure) { _ = try settings.account() } catch {
      return refuse("\(error.description): correct user in [command.\"\(settings.identifier)\"]")
    }
    // A reload launches a command with other settings beside the one that has runs.
    let key = Key(identifier: settings.identifier, settings: String(cString: text), table: UInt(bitPattern: table.api))
    let entry = entries.withLock { entries in
      let entry = entries[key] ?? PluginEntry()
      entries[key] = entry
      return entry
    }
    let status = table.register(settings.identifier, .processing, entry, maxConcurrentRuns: mostRuns, in: launch)
    guard status == taskhost_status(TASKHOST_OK) else { return status }  // no further call: last_error is the host's reason
    guard settings.isPersistent else {
      entry.install { CommandRun.serve(settings, in: dataDirectory, RunHandle(table: table, task: $0)) }
      return status
    }
    let children = pools.withLock { pools in
      let children = pools[key] ?? PersistentChildren(settings, in: dataDirectory)
      pools[key] = children
      return children
    }
    entry.install { PersistentRun.serve(children, settings, in: dataDirectory, RunHandle(table: table, task: $0)) }
    return status
  }

  /// Ends the processes that wait for runs. The host calls it once for each command, when no run is live.
  package static func shutDown() {
    let all = pools.withLock { pools in
      defer { pools = [:] }
      return Array(pools.values)
    }
    for children in all { children.beginShutDown() }
    for children in all { children.finishShutDown() }
  }

  private static let pools = Mutex<[Key: PersistentChildren]>([:])

  private struct Key: Hashable {
    let identifier, settings: String
    let table: UInt
  }

  private static let entries = Mutex<[Key: PluginEntry]>([:])
}
