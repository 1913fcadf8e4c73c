import Failpoints
import Glibc
public import HostControl
import HostThreads
import Logging
import RecordJSON
import ServiceLifecycle
import Synchronization
public import TaskHost
import TaskModel

extension Host: ControlledHost {}

/// `taskhost run`: launches the host and serves until it is asked to end.
///
/// - Returns: The process's exit code.
func runHost(_ options: RunCommand) async throws -> Int32 {
  let configuration: HostConfiguration
  do { configuration = try HostConfiguration.load(for: options, file: options.config) } catch {
    for line in "\(error)".split(separator: "\n") { Terminal.note("taskhost: \(line)") }
    return HostFailure.ExitCode.configuration.rawValue
  }
  let (log, writer): (Logger, LogWriter)
  do { (log, writer) = try HostLog.open(configuration.log) } catch {
    Terminal.note("taskhost: \(error)")
    return HostFailure.ExitCode.temporary.rawValue
  }
  let (status, leavesThreads) = try await serve(configuration, options, log, writer)
  writer.flush(within: .seconds(1))
  // An abandoned thread of a plugin may run any code, so exit handlers and destructors must not run at the same time.
  if leavesThreads {
    fflush(nil)
    _exit(status)
  }
  return status
}

/// - Returns: The process's exit code, and whether threads remain that could not be ended.
private func serve(
  _ configuration: HostConfiguration, _ options: RunCommand, _ log: Logger, _ writer: LogWriter
) async throws -> (status: Int32, leavesThreads: Bool) {
  func failed(_ message: String, _ code: HostFailure.ExitCode) -> (status: Int32, leavesThreads: Bool) {
    for line in message.split(separator: "\n") { writer.write("taskhost: \(line)") }
    return (code.rawValue, false)
  }
  do {
    if let failpoint = try FailpointTrigger.armFromEnvironment() {
      log.warning("\(FailpointTrigger.variable)=\(failpoint): this host kills itself at that point with SIGKILL")
    }
  } catch { return failed("\(error)", .configuration) }
  let signals: HostSignals
  do { signals = try HostSignals(log: log, writer: writer) } catch { return failed(error.description, .temporary) }
  let certificate: CertificateKeeper?
  do { certificate = try configuration.certificateFiles.map { try CertificateKeeper($0, log: log) } } catch {
    return failed("\(error)", .configuration)
  }
  let manager = ServiceManager(environment: { getenv($0).map { String(cString: $0) } }, log: log)
  /// Nil before the server exists.
  let serving = Guarded<ControlServer?>(nil)
  let reloading = Reloading { () throws(ConfigurationError) in
    // A file that was found at the launch must not be gone: the defaults would cancel every schedule.
    try HostConfiguration.load(for: options, file: options.config ?? configuration.file)
  } begun: {
    manager?.reloading()
  } ended: {
    manager?.ready("launched")
  } recorded: { cause, report in
    await serving.withLock { $0 }?.recordReload(of: report.count ?? "nothing", because: cause.rawValue)
  }
  let host: Host
  var opened: EventSockets?
  do {
    let directory = try StateDirectory(configuration)
    let sockets = try configuration.openEventSockets(log)
    opened = sockets
    host = try Host.launch(
      configuration, allowMissing: options.allowMissing, acceptsStoreLoss: options.acceptStoreLoss, in: directory, program: Version.text,
      log: log, reloading: reloading
    ) {
      ProcessStatus(
        version: Version.text, problems: (sockets?.problems ?? []) + (certificate?.problems ?? []) + [writer.problem].compactMap(\.self),
        eventsDropped: sockets?.counts.dropped ?? 0, logLinesDropped: writer.dropped)
    }
  } catch {
    await opened?.close()
    let failure = error as? HostFailure ?? HostFailure(.configuration, "\(error)")
    return failed(failure.message, failure.exitCode)
  }
  let eventSockets = opened
  eventSockets?.start { event, payload, recorded in host.notify(event, payload: payload, recorded: recorded) }
  eventSockets?.keep { host.watchFile($0, changed: $1) }
  signals.serve(host)
  let service = HostService(host: host, manager: manager)
  let control = configuration.control
  let socket = ControlSocket(path: control.socket, mode: mode_t(control.mode), group: control.group)
  let server = ControlServer(
    host: host, socket: socket, passed: Main.passedSocket.withLock { $0 }, remote: configuration.remoteAccess(certificate),
    auditDirectory: configuration.stateDirectory,
    redaction: host.redaction, logger: log, watch: { host.watchFile($0, changed: $1) },
    onListening: {
      StartUpMemory.giveBack(exceptBelow: configuration.pluginDirectories)
      manager?.launched(host, log)
    })
  serving.withLock { $0 = server }
  // The server continues until the host has drained, so that clients can watch the drain; then the group ends.
  let group = ServiceGroup(
    configuration: ServiceGroupConfiguration(
      services: [.init(service: server), .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)], logger: log))
  do { try await group.run() } catch {
    await eventSockets?.close()
    _ = host.close()
    // Other errors come from the system: too few descriptors, no memory.
    let isOurs = error is ControlSocketError || error is RemoteAccessError || error is TokenFileError
    return failed(isOurs ? "\(error)" : "the control socket \(control.socket): \(error)", isOurs ? .configuration : .temporary)
  }
  await eventSockets?.close()
  return (0, host.close())
}

extension ServiceManager {
  /// Says that the host serves, and beats from then on if the manager watches.
  fileprivate func launched(_ host: Host, _ log: Logger) {
    ready("launched")
    guard let watchdog else { return }
    do throws(HostThread.Failure) {
      try Heartbeat.start(every: watchdog) {
        host.whenScheduled($0)
      } beat: { live in
        let runs = live == 0 ? "no run is live" : live == 1 ? "1 run is live" : "\(live) runs are live"
        self.beat("\(host.isAskedToEnd ? "draining" : "launched"); \(runs)")
      }
    } catch { log.error("the service manager will not hear that the scheduler works: \(error)") }
  }
}

extension HostConfiguration {
  /// Where the tokens are.
  var tokenFile: String { control.tokenFile ?? stateDirectory + "/tokens" }

  /// How clients reach the host over TCP; nil if they do not.
  fileprivate func remoteAccess(_ certificate: CertificateKeeper?) -> RemoteAccess? {
    control.listen.map {
      RemoteAccess(host: $0.host, port: $0.port, tokenFile: tokenFile, names: control.names, certificate: certificate)
    }
  }

  /// The files of the certificate for clients over TCP; nil if nothing is encrypted.
  var certificateFiles: CertificateFiles? {
    guard let certificate = control.certificate, let key = control.key else { return nil }
    return CertificateFiles(certificate: certificate, key: key)
  }

  /// Loads the named configuration file, otherwise `taskhost.toml` if it exists, otherwise the defaults; then applies the command's
  /// options.
  ///
  /// - Parameter file: The named file; nil if none was named.
  static func load(for options: RunCommand, file: String?) throws(ConfigurationError) -> HostConfiguration {
    var configuration = try ConfigurationChoice.ofHost(file).load()
    if !options.plugins.isEmpty { configuration.pluginDirectories = options.plugins }
    if let state = options.state {
      let isDefaultSocket = configuration.control.socket == configuration.stateDirectory + "/control.sock"
      configuration.stateDirectory = state
      if isDefaultSocket { configuration.control.socket = state + "/control.sock" }
    }
    if let socket = options.socket { configuration.control.socket = socket }
    return configuration
  }
}

/// The control socket that the configuration at `path` names, or the one of this directory: as `taskhost.toml` names it, or else by default.
/// Where there is neither, the machine's host as a package installs it.
func socketFromConfiguration(_ path: String?) -> String {
  let usual = "state/control.sock"
  guard case .file(let file) = ConfigurationChoice.ofCommand(path) else { return usual }
  return (try? HostConfiguration.load(file: file))?.control.socket ?? usual
}

extension HostConfiguration {
  /// Opens the sockets of `[events]`, all or none; nil if there are none.
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
