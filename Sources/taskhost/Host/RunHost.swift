import Failpoints
import Glibc
import HostControl
import Logging
import ServiceLifecycle
import TaskHost
import TaskModel
import UnixSignals

/// `taskhost run`: launches the host and serves until it is asked to end.
///
/// - Returns: The process's exit code.
func runHost(_ options: RunOptions) async throws -> Int32 {
  let configuration: HostConfiguration
  do { configuration = try HostConfiguration.load(for: options) } catch {
    for line in "\(error)".split(separator: "\n") { Terminal.note("taskhost: \(line)") }
    return HostFailure.ExitCode.configuration.rawValue
  }
  let log = HostLog.logger(configuration.log)
  do {
    if let failpoint = try FailpointTrigger.armFromEnvironment() {
      log.warning("\(FailpointTrigger.variable)=\(failpoint): this host ends itself by SIGKILL there")
    }
  } catch {
    Terminal.note("taskhost: \(error)")
    return HostFailure.ExitCode.configuration.rawValue
  }
  let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
  let host: Host
  do { host = try Host.launch(configuration, allowMissing: options.allowMissing, log: log) } catch {
    for line in error.message.split(separator: "\n") { Terminal.note("taskhost: \(line)") }
    return error.exitCode.rawValue
  }
  let service = HostService(host: host, signals: signals, log: log)
  let control = configuration.control
  let socket = ControlSocket(path: control.socket, mode: mode_t(control.mode), group: control.group)
  let server = ControlServer(
    host: ControlledHostAdapter(host: host, service: service), socket: socket, logger: log,
    onListening: { StartUpMemory.giveBack(exceptBelow: configuration.pluginDirectories) })
  // Services are shut down in reverse: clients can watch the host drain.
  let group = ServiceGroup(
    configuration: ServiceGroupConfiguration(
      services: [.init(service: server), .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)], logger: log))
  await service.connect(group)
  do { try await group.run() } catch let error as ControlSocketError {
    Terminal.note("taskhost: \(error)")
    _ = await service.end()
    return HostFailure.ExitCode.configuration.rawValue
  }
  // A thread that a plugin never gave back may be anywhere: exit handlers and destructors must not run beside it.
  if await service.end() {
    fflush(nil)
    _exit(0)
  }
  return 0
}

extension HostConfiguration {
  /// The configuration file that was named, else `taskhost.toml` where there is one, else the defaults; with what the command line sets.
  static func load(for options: RunOptions) throws(ConfigurationError) -> HostConfiguration {
    var configuration: HostConfiguration
    if let file = options.configuration {
      configuration = try load(file: file)
    } else if access("taskhost.toml", F_OK) == 0 {
      configuration = try load(file: "taskhost.toml")
    } else {
      configuration = defaults()
    }
    if !options.pluginDirectories.isEmpty { configuration.pluginDirectories = options.pluginDirectories }
    if let state = options.stateDirectory {
      let isDefaultSocket = configuration.control.socket == configuration.stateDirectory + "/control.sock"
      configuration.stateDirectory = state
      if isDefaultSocket { configuration.control.socket = state + "/control.sock" }
    }
    if let socket = options.socket { configuration.control.socket = socket }
    return configuration
  }
}

/// The control socket that a configuration names: of the file at `path`, or of `taskhost.toml` in the working directory; nil: neither is
/// there, or it cannot be read.
func socketFromConfiguration(_ path: String?) -> String? {
  guard let file = path ?? (access("taskhost.toml", F_OK) == 0 ? "taskhost.toml" : nil) else { return nil }
  return (try? HostConfiguration.load(file: file))?.control.socket
}
