import Glibc
import HostThreads
import TaskModel
import WorkerProcesses

/// Derives the specifications of workers from the configuration of their plugins.
struct WorkerSpecs: Sendable {
  let configuration: HostConfiguration
  let stateDirectory: String
  /// The absolute path of the worker program.
  let executable: String
  /// The circumstances that every launch depends on: the build of the worker, the libraries, the budget.
  private let everybody: String
  private let entitlements: ResolvedEntitlements

  /// Resolves the paths of all entitlements once.
  ///
  /// - Parameter executable: The worker program; nil finds it in its usual place.
  /// - Throws: If the program is missing, or entitlements conflict with each other or with the host's own places.
  init(_ configuration: HostConfiguration, stateDirectory: String, executable program: String? = nil) throws(HostFailure) {
    self.configuration = configuration
    self.stateDirectory = stateDirectory
    executable = if let program { program } else { try Self.findExecutable() }
    entitlements = try ResolvedEntitlements(
      configuration, stateDirectory: stateDirectory, programs: [executable] + (Self.ownProgram().map { [$0] } ?? []))
    everybody = [
      Self.build(executable), String(configuration.launchBudget.wholeMilliseconds), String(Self.landlockLimit ?? 0),
      SwiftRuntime.directories.joined(separator: ":"),
    ].joined(separator: "\u{1}")
  }

  /// Uses the settings of `identifier`, or the default sandbox if it is nil.
  func spec(for candidate: PluginCandidate, handlerLimit: Int, identifier: TaskIdentifier?) throws(HostFailure) -> WorkerSpec {
    let settings = identifier.map { configuration.plugin($0.rawValue) } ?? PluginConfiguration()
    let data = try identifier.map { identifier throws(HostFailure) in try StateDirectory.dataDirectory(in: stateDirectory, for: identifier)
    }
    let paths = entitlements.paths(of: identifier?.rawValue ?? "")
    let own = identifier.map { EntitledPath.own(["data", $0.rawValue], in: stateDirectory, with: [Self.temporaryFolder]) }
    var confinement = Confinement(
      plugin: candidate.copy, dataDirectory: data, libraryDirectories: SwiftRuntime.directories, memory: settings.limits.memory,
      processes: settings.limits.processes, descriptors: settings.limits.descriptors, read: paths.read.map(\.path),
      write: paths.write.map(\.path), network: Confinement.Network(settings.entitlements.network), exec: settings.entitlements.exec,
      reserved: entitlements.reserved)
    let transfers = try transferFolder(of: identifier, settings)
    confinement.write += transfers.map { [$0.path] } ?? []
    // One that will have what the host has is launched in a worker only to see that it survives that.
    if settings.isolation == .thread {
      (confinement.write, confinement.network, confinement.exec) = (["/"], .connect, true)
      (confinement.memory, confinement.descriptors) = (1 << 40, 65_536)
    }
    return WorkerSpec(
      executable: executable, name: candidate.name, confinement: confinement, processor: settings.limits.processor,
      entitled: paths.read + paths.write + [own, transfers].compactMap { $0 }, identifier: identifier, adoption: candidate.adoption,
      handlerLimit: handlerLimit, launchBudget: configuration.launchBudget, environment: environment(settings, data),
      landlockLimit: Self.landlockLimit)
  }

  /// Where a plugin that may transfer has its files; for the plugin that carries transfers out, the folder with all of them.
  private func transferFolder(of identifier: TaskIdentifier?, _ settings: PluginConfiguration) throws(HostFailure) -> EntitledPath? {
    guard let identifier else { return nil }
    let carriesOut = identifier == .transfers && !configuration.transferring.isEmpty
    guard carriesOut || settings.mayTransfer else { return nil }
    _ = try StateDirectory.transferFolder(in: stateDirectory, for: carriesOut ? nil : identifier)
    return EntitledPath.own(["transfers"] + (carriesOut ? [] : [identifier.rawValue]), in: stateDirectory, with: [])
  }

  /// Everything except the content that the result of a launch depends on.
  func circumstances(of identifier: TaskIdentifier?) -> String {
    let settings = identifier.map { configuration.plugin($0.rawValue) } ?? PluginConfiguration()
    let limits = settings.limits
    let entitlements = settings.entitlements
    let network: String =
      switch entitlements.network {
      case .none: "none"
      case .connect: "connect"
      case .ports(let ports): ports.map(String.init).joined(separator: ",")
      }
    return [
      everybody, identifier?.rawValue ?? "", settings.settings, settings.isolation.rawValue, String(limits.memory),
      String(limits.processes), String(limits.descriptors), "\(limits.processor)", entitlements.read.joined(separator: "\0"),
      entitlements.write.joined(separator: "\0"), network, entitlements.exec ? "exec" : "",
      environment(settings, nil).joined(separator: "\0"),
      settings.mayTransfer || identifier == .transfers && !configuration.transferring.isEmpty ? "transfers" : "",
    ].joined(separator: "\u{1}")
  }

  /// The name of `TMPDIR` in a plugin's own folder.
  private static let temporaryFolder = "tmp"

  /// `TASKHOST_LANDLOCK_ABI`: the newest Landlock ABI to use, for testing plugins as on an older kernel.
  static let landlockLimit: Int? = getenv("TASKHOST_LANDLOCK_ABI").flatMap { Int(String(cString: $0)) }

  /// The folders in which a worker's plugin finds programs, unless the operator passes another `PATH` on.
  static let path = "/usr/local/bin:/usr/bin:/bin"

  /// The worker's environment: its folders, and the variables that the operator passes on.
  private func environment(_ settings: PluginConfiguration, _ data: String?) -> [String] {
    var variables = ["PATH": Self.path, "SWIFT_BACKTRACE": "enable=no"]
    if let data {
      variables["HOME"] = data
      variables["CFFIXED_USER_HOME"] = data
      variables["TMPDIR"] = data + "/" + Self.temporaryFolder
    }
    // Resolves names over TCP, because the sandbox allows nothing else.
    if case .ports = settings.entitlements.network { variables["RES_OPTIONS"] = "use-vc" }
    for name in ["LANG", "LC_ALL", "TZ"] + settings.environment {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    return variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  /// Searches beside this program and in the package's folder, unless `TASKHOST_WORKER` names a program.
  static func findExecutable() throws(HostFailure) -> String {
    if let path = getenv("TASKHOST_WORKER") { return String(cString: path) }
    let folder = ownProgram().flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } } ?? "/usr/bin"
    let places = [folder + "/taskhost-worker", folder + "/../libexec/taskhost/taskhost-worker"]
    if let found = places.first(where: { access($0, X_OK) == 0 }) { return found }
    throw HostFailure(
      .configuration,
      "taskhost-worker is not at \(places.joined(separator: " nor at ")): install it beside taskhost, or name it with TASKHOST_WORKER")
  }

  /// The library of the exec plugin, which is installed beside the worker.
  ///
  /// - Throws: A sentence for the operator, if it is missing.
  func execLibrary() throws(HostFailure) -> String {
    let folders = [executable, Self.ownProgram() ?? executable].map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
    let places = (folders + [folders[1] + "/../libexec/taskhost"]).map { $0 + "/libExec.so" }
    if let found = places.first(where: { access($0, R_OK) == 0 }) { return found }
    throw HostFailure(
      .configuration, "libExec.so, which runs commands, is not at \(places[0]): install it beside taskhost-worker")
  }

  /// A program that is installed beside the worker: where it is, or where it should be.
  static func companion(_ name: String) -> String {
    let programs = [getenv("TASKHOST_WORKER").map { String(cString: $0) }, ownProgram(), "/usr/bin/taskhost"].compactMap { $0 }
    let folders = programs.map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
    let places = (folders + folders.map { $0 + "/../libexec/taskhost" }).map { "\($0)/\(name)" }
    return places.first { access($0, X_OK) == 0 } ?? places[0]
  }

  private static func ownProgram() -> String? { RealPath.of("/proc/self/exe") }

  /// Identifies the build of the worker.
  private static func build(_ executable: String) -> String {
    var info = stat()
    guard stat(executable, &info) == 0 else { return "" }
    return "\(info.st_dev) \(info.st_ino) \(info.st_size) \(info.st_mtim.tv_sec) \(info.st_mtim.tv_nsec)"
  }
}

extension Confinement.Network {
  /// The configuration has checked that ports are within 1 to 65,535.
  init(_ network: PluginConfiguration.Entitlements.Network) {
    switch network {
    case .none: self = .none
    case .connect: self = .connect
    case .ports(let ports): self = .ports(ports.map { UInt16(clamping: $0) })
    }
  }
}
