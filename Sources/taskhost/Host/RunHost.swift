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
  var opened: EventSockets?
  do {
    let claim = try HostClaim(configuration)
    opened = try configuration.openEventSockets(log)
    host = try Host.launch(
      configuration, allowMissing: options.allowMissing, acceptsStoreLoss: options.acceptStoreLoss, claim: claim, log: log)
  } catch {
    await opened?.close()
    let failure = error as? HostFailure ?? HostFailure(.configuration, "\(error)")
    for line in failure.message.split(separator: "\n") { Terminal.note("taskhost: \(line)") }
    return failure.exitCode.rawValue
  }
  let eventSockets = opened
  eventSockets?.start { event, payload, recorded in host.notify(event, payload: payload, recorded: recorded) }
  let service = HostService(host: host, signals: signals, log: log)
  let control = configuration.control
  let socket = ControlSocket(path: control.socket, mode: mode_t(control.mode), group: control.group)
  let server = ControlServer(
    host: ControlledHostAdapter(host: host, service: service, eventSockets: eventSockets), socket: socket, logger: log,
    onListening: { StartUpMemory.giveBack(exceptBelow: configuration.pluginDirectories) })
  // Services are shut down in reverse: clients can watch the host drain.
  let group = ServiceGroup(
    configuration: ServiceGroupConfiguration(
      services: [.init(service: server), .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)], logger: log))
  await service.connect(group)
  do { try await group.run() } catch let error as ControlSocketError {
    Terminal.note("taskhost: \(error)")
    await eventSockets?.close()
    _ = await service.end()
    return HostFailure.ExitCode.configuration.rawValue
  }
  await eventSockets?.close()
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

extension HostConfiguration {
  /// Opens the sockets of `[events]`, all or none; nil: there are none.
  fileprivate func openEventSockets(_ log: Logger) throws(EventSocketError) -> EventSockets? {
    guard !events.isEmpty else { return nil }
    let sockets = events.sorted { $0.key < $1.key }.map { name, socket in
      let address: HostControl.EventSocket.Address =
        switch socket.listen {
        case .unix(let path): .unix(ControlSocket(path: path, mode: socket.mode, group: socket.group))
        case .udp(let address): .udp(host: address.host, port: address.port)
        }
      return HostControl.EventSocket(event: name, address: address)
    }
    return try EventSockets(sockets, log: log)
  }
}
