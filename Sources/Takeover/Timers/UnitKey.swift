/// What a key of a unit is to a command, where the key alone decides.
enum UnitKey {
  private static let described: Set<String> = [
    "Description", "Documentation", "SourcePath", "SyslogIdentifier", "SyslogFacility", "SyslogLevel", "SyslogLevelPrefix", "LogLevelMax",
    "NotifyAccess", "AccuracySec", "RemainAfterElapse", "DefaultDependencies", "StartLimitBurst", "StartLimitIntervalSec",
    "IgnoreOnIsolate",
    "CollectMode", "RefuseManualStart", "RefuseManualStop", "TimeoutSec", "TimeoutAbortSec", "Before", "After", "WantedBy", "Also", "Alias",
    "RequiredBy", "DefaultInstance", "StandardInput", "IgnoreSIGPIPE", "SendSIGHUP", "GuessMainPID",
  ]
  private static let isolating = [
    "Protect", "Private", "Restrict", "SystemCall", "Capabilit", "AmbientCapabilities", "NoNewPrivileges", "ReadWrite", "ReadOnly",
    "Inaccessible", "ExecPaths", "NoExecPaths", "TemporaryFileSystem", "MemoryDenyWriteExecute", "LockPersonality", "KeyringMode",
    "RemoveIPC", "Device", "IPAddress", "SocketBind", "ProcSubset", "SecureBits", "MountFlags", "SupplementaryGroups",
  ]
  private static let controlling = [
    "CPU", "Memory", "IOWeight", "IODevice", "IORead", "IOWrite", "Tasks", "Slice", "Delegate", "BlockIO", "OOM", "ManagedOOM", "Limit",
    "StartupCPU", "StartupIO", "AllowedCPUs",
  ]
  private static let making = ["RuntimeDirectory", "StateDirectory", "CacheDirectory", "LogsDirectory", "ConfigurationDirectory"]
  private static let ending: Set<String> = ["KillMode", "KillSignal", "FinalKillSignal", "SendSIGKILL", "RestartKillSignal", "WatchdogSec"]

  /// Why the command could not run as it should without this key; nil if it can.
  static let obstacles: [String: String] = [
    "DynamicUser": "its user exists only while systemd runs it", "RootDirectory": "it runs in another root",
    "RootImage": "it runs in an image", "LoadCredential": "systemd hands it credentials", "SetCredential": "systemd hands it credentials",
    "LoadCredentialEncrypted": "systemd hands it credentials", "BindPaths": "it sees files at other places",
    "BindReadOnlyPaths": "it sees files at other places", "Sockets": "systemd hands it sockets", "BusName": "it is a service of D-Bus",
  ]

  /// Exit codes by their names in `SuccessExitStatus=` (sysexits.h).
  static let exitCodes = [
    "SUCCESS": 0, "FAILURE": 1, "USAGE": 64, "DATAERR": 65, "NOINPUT": 66, "NOUSER": 67, "NOHOST": 68, "UNAVAILABLE": 69, "SOFTWARE": 70,
    "OSERR": 71, "OSFILE": 72, "CANTCREAT": 73, "IOERR": 74, "TEMPFAIL": 75, "PROTOCOL": 76, "NOPERM": 77, "CONFIG": 78,
  ]

  /// What becomes of the line; nil if the key's value decides.
  static func result(_ key: String, _ value: String) -> LineFinding.Result? {
    if isolating.contains(where: { key.hasPrefix($0) }), ["no", "false", "0", "off", ""].contains(value) {
      return .nothing("it has no effect on a command")
    }
    if described.contains(key) { return .nothing("it has no effect on a command") }
    if making.contains(where: { key.hasPrefix($0) }) {
      return .refused("systemd makes this folder before each run, the host does not: make it once, with the right owner")
    }
    if isolating.contains(where: { key.hasPrefix($0) }) {
      return .refused("the host does not isolate the command so: entitlements in its table begin a sandbox")
    }
    if controlling.contains(where: { key.hasPrefix($0) }) {
      return .refused("the host does not control this resource: limits of the command's table bound memory and descriptors")
    }
    if ending.contains(key) { return .refused("the host ends a run by SIGTERM to its process group, and by SIGKILL after its grace") }
    return nil
  }
}
