import HostThreads
import Logging
import PluginRuntime
import PluginTrust
import Synchronization
import TaskModel

/// The launch phases `discovering` and `registering`: every file that is found becomes a registered plugin or a refusal with its reason.
struct PluginLaunching {
  let configuration: HostConfiguration
  let stateDirectory: String
  let submissionRules: SubmissionRules
  let log: Logger

  /// What became of the files, in the order of their names.
  struct Result: Sendable {
    var registered: [RegisteredPlugin] = []
    var refused: [RefusedPlugin] = []
  }

  /// Looks through the plugin directories.
  func discover() throws(HostFailure) -> PluginDirectoryScan {
    do {
      return try PluginDirectoryScan(
        directories: configuration.pluginDirectories,
        policy: PluginTrustPolicy(trustedLibraryDirectories: SwiftRuntime.directories))
    } catch {
      throw HostFailure(.configuration, "plugin directory \(error)")
    }
  }

  /// Calls each accepted file's launch function, in the order of file names: the first to register an identifier keeps it.
  func register(_ scan: PluginDirectoryScan, known: (PluginFile) -> TaskIdentifier?) -> Result {
    var result = Result(refused: scan.refused.map { RefusedPlugin(refusal: $0, identifier: nil) })
    let registry = LaunchRegistry(
      configuration: configuration, stateDirectory: stateDirectory, submissionRules: submissionRules, log: log)
    for file in scan.accepted {
      let identifier = known(file)
      do throws(LaunchFailure) {
        let plugin = try PluginImage.launch(
          path: file.path, identifier: identifier, handlerLimit: Int(min(file.elf.handlerLimit, 64)), budget: configuration.launchBudget,
          policy: registry.policy(for: file, identifier: identifier))
        try agree(plugin, with: file)
        let contracts = plugin.handlers.map { contract(for: $0.registered) }
        registry.take(plugin.handlers.map(\.registered.identifier), for: file)
        result.registered.append(RegisteredPlugin(file: file, plugin: plugin, contracts: contracts))
      } catch {
        result.refused.append(RefusedPlugin(refusal: error.refusal(of: file), identifier: identifier))
      }
    }
    return result
  }

  /// A note in the file must say what was registered.
  private func agree(_ plugin: LaunchedPlugin, with file: PluginFile) throws(LaunchFailure) {
    guard let note = file.elf.note else { return }
    guard let registered = plugin.handlers.map(\.registered).first(where: { $0.identifier.rawValue == note.identifier }) else {
      throw LaunchFailure(step: .note, observed: "its note says \(note.identifier), which it did not register")
    }
    func compare(_ key: String, _ noted: String?, _ registered: String?) throws(LaunchFailure) {
      guard let noted, noted != registered else { return }
      throw LaunchFailure(step: .note, observed: "its note says \(key)=\(noted), it registered \(registered ?? "none")")
    }
    try compare("kind", note.kind?.rawValue, registered.kind.rawValue)
    try compare("budget_ms", note.budgetMilliseconds.map { "\($0)" }, registered.budget.map { "\($0.wholeMilliseconds)" } ?? "0")
    try compare("version", note.version, registered.version)
  }

  /// What was registered, within the operator's limits. A plugin may shorten its kind's budget; only the configuration lengthens it.
  private func contract(for registered: PluginHandler.Registration) -> HandlerContract {
    let settings = configuration.plugin(registered.identifier.rawValue)
    let shortest = [registered.kind.defaultBudget, registered.budget].compactMap { $0 }.min()
    return HandlerContract(
      identifier: registered.identifier, kind: registered.kind, budget: settings.budget ?? shortest,
      grace: settings.grace ?? registered.kind.defaultGrace,
      maxConcurrentRuns: min(registered.maxConcurrentRuns, settings.maxConcurrentRuns ?? .max), displayName: registered.displayName,
      version: registered.version)
  }
}

/// A plugin that launched.
struct RegisteredPlugin: Sendable {
  let file: PluginFile
  let plugin: LaunchedPlugin
  let contracts: [HandlerContract]
}

/// A file that did not become a plugin.
struct RefusedPlugin: Sendable {
  let refusal: PluginRefusal
  /// Who it would have been, where that is known.
  let identifier: TaskIdentifier?
}

/// Who has which identifier so far, and what launching plugins may know.
private final class LaunchRegistry: Sendable {
  let configuration: HostConfiguration
  let stateDirectory: String
  let submissionRules: SubmissionRules
  let log: Logger
  private let taken = Mutex<[TaskIdentifier: String]>([:])

  init(configuration: HostConfiguration, stateDirectory: String, submissionRules: SubmissionRules, log: Logger) {
    self.configuration = configuration
    self.stateDirectory = stateDirectory
    self.submissionRules = submissionRules
    self.log = log
  }

  func take(_ identifiers: [TaskIdentifier], for file: PluginFile) {
    taken.withLock { taken in for identifier in identifiers { taken[identifier] = file.name } }
  }

  func holder(of identifier: TaskIdentifier) -> String? { taken.withLock { $0[identifier] } }

  func policy(for file: PluginFile, identifier: TaskIdentifier?) -> Policy {
    Policy(registry: self, file: file.name, identifier: identifier)
  }

  struct Policy: LaunchPolicy {
    let registry: LaunchRegistry
    let file: String
    let identifier: TaskIdentifier?

    func admit(_ identifier: TaskIdentifier) throws(CallFailure) {
      if let holder = registry.holder(of: identifier) { throw CallFailure(.exists, "\(identifier) is registered by \(holder) already") }
      if let expected = registry.configuration.plugins.first(where: { $0.value.file == file })?.key, expected != identifier.rawValue {
        throw CallFailure(.notPermitted, "the configuration ties \(file) to \(expected), not to \(identifier)")
      }
      guard registry.configuration.permits(identifier) else {
        throw CallFailure(.notPermitted, "\(identifier) is not in permitted_identifiers")
      }
    }

    func settings(for identifier: TaskIdentifier) -> String { registry.configuration.plugin(identifier.rawValue).settings }

    func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
      do { return try StateDirectory.dataDirectory(in: registry.stateDirectory, for: identifier) } catch {
        throw CallFailure(.unavailable, error.message)
      }
    }

    func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {
      try registry.submissionRules.check(request.identifier, from: identifier)
    }

    func log(_ line: LogLine) {
      registry.log.log(level: Logger.Level(line.level), "\(line.message)", metadata: ["plugin": .string(file), "phase": "registering"])
    }
  }
}

extension LaunchFailure {
  /// The failure as a refusal of the file, with what to do.
  func refusal(of file: PluginFile) -> PluginRefusal {
    let (code, remedy): (PluginRefusal.Code, String) =
      switch step {
      case .load where observed.contains("undefined symbol"):
        (.unresolvedSymbol, "Link the library that has it, or rebuild against the version installed here.")
      case .load: (.dependencyMissing, "Install what it needs, in the version it was built with.")
      case .timeout: (.launchTimeout, "Do no work in taskhost_plugin_launch, or raise launch_budget.")
      case .status: (.launchFailed, "See the plugin's log lines above; check its settings.")
      case .registration where observed.hasPrefix("it registered no"):
        (.registeredNothing, "Call register_handler in taskhost_plugin_launch.")
      case .registration: (.invalidRegistration, "Correct what it registers.")
      case .note: (.noteDisagrees, "The note must agree with what is registered: correct one of them.")
      case .registeredTwice: (.registeredTwice, "Register one handler; make a plugin of its own for the other.")
      case .identifierTaken: (.identifierTaken, "Remove one of the two files, or give one another identifier.")
      case .notPermitted: (.notPermitted, "Add it to permitted_identifiers, or remove the file.")
      }
    return PluginRefusal(code: code, file: file.path, observed: observed.escapingControlCharacters, remedy: remedy)
  }
}

extension Logger.Level {
  /// swift-log's level of the same name.
  init(_ level: LogLine.Level) {
    switch level {
    case .trace: self = .trace
    case .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    }
  }
}
