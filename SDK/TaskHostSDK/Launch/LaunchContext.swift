import CTaskHost
public import Logging

/// What a plugin is given when it is launched. Usable from any thread until the launch is over.
public struct LaunchContext<Settings>: Sendable where Settings: Sendable {
  /// The plugin's settings from the operator's configuration.
  public let settings: Settings

  /// The plugin's own writable folder, an absolute path.
  public let dataDirectory: String

  let table: HostTable
  let launch: taskhost_launch

  /// Writes a line to the host's log. At most 8 KiB; the host cuts and marks what is longer. Does nothing once the launch is over.
  public func log(_ level: Logger.Level, _ message: String) {
    _ = CStrings.printable(message).withCString { table.api.pointee.launch_log(launch, level.cValue, $0) }
  }

  /// Submits a request that the host holds until the launch has succeeded and then commits once; it is dropped in a probe.
  ///
  /// - Throws: ``TaskHostError``, `notPermitted` for an identifier the plugin may not submit to, `launched` once the launch is over.
  public func submit(_ request: TaskRequest) throws(TaskHostError) {
    try table.check(try request.withCValue { table.api.pointee.launch_submit(launch, $0) })
  }

  /// How far the operator lets this plugin reach a directory, which need not exist. With `isolation = "thread"`, and in a launch that only
  /// finds out what the plugin registers, every directory is entitled.
  ///
  /// - Throws: ``TaskHostError``, `unsupported` where the host does not tell, `launched` once the launch is over.
  public func entitlement(to directory: String) throws(TaskHostError) -> DirectoryEntitlement {
    try OpenFilesTable(table).entitlement(to: directory, launch)
  }
}
