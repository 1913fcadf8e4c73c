import CTaskHost
public import Logging

/// The context of a plugin's launch. Usable from any thread until the launch is over.
public struct LaunchContext<Settings>: Sendable where Settings: Sendable {
  /// The plugin's settings from the operator's configuration.
  public let settings: Settings

  /// The absolute path of the plugin's own writable folder.
  public let dataDirectory: String

  let table: HostFunctions
  let launch: taskhost_launch

  /// Writes a line to the host's log. The host cuts and marks lines above 8 KiB. Does nothing once the launch is over.
  public func log(_ level: Logger.Level, _ message: String) {
    _ = CStrings.printable(message).withCString { table.api.pointee.launch_log(launch, level.cValue, $0) }
  }

  /// Submits a request. The host commits it when the launch succeeds, and drops it in a probe.
  ///
  /// - Throws: ``TaskHostError``: `notPermitted` for an identifier that the plugin may not submit to, `launched` once the launch is over.
  public func submit(_ request: TaskRequest) throws(TaskHostError) {
    try table.check(try request.withCValue { table.api.pointee.launch_submit(launch, $0) })
  }

  /// Returns the plugin's entitlement to a directory, which need not exist. With `isolation = "thread"` and in a probe launch, the plugin
  /// is entitled to every directory.
  ///
  /// - Throws: ``TaskHostError``: `unsupported` if the host does not report entitlements, `launched` once the launch is over.
  public func entitlement(to directory: String) throws(TaskHostError) -> DirectoryEntitlement {
    try OpenFilesTable(table).entitlement(to: directory, launch)
  }
}
