public import CTaskHost
package import TaskModel

/// The table of functions that every plugin of this process gets at launch.
public enum ContractTable {
  /// Read-only memory that lives as long as the process; nil if no memory was left for it.
  public static var shared: UnsafePointer<taskhost_api>? { HostTable.shared }

  /// A copy of a table in read-only memory that lives as long as the process; nil if no memory is left.
  package static func readOnly<Table: BitwiseCopyable>(_ table: Table) -> UnsafePointer<Table>? { HostTable.readOnly(table) }

  /// The run that a plugin names by `task`, even if it was stopped by force and its handler still runs. Its clock is not told.
  package static func run(_ task: taskhost_task) throws(CallFailure) -> LiveRun { try RunTable.shared.lookUp(task) }

  /// Serves one call from a plugin: OK, or the failure's status with a sentence for `last_error`.
  package static func answer(_ body: () throws(CallFailure) -> Void) -> taskhost_status { PluginRuntime.answer(body) }
}
