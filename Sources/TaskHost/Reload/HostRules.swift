import OpenFiles
import RecordJSON
import Synchronization
import TaskModel

/// A configuration, and what is made of it for the calls of plugins and the answers to clients.
final class HostRules: Sendable {
  let configuration: HostConfiguration
  /// What nobody sees of payloads.
  let redaction: PayloadRedaction
  /// What plugins may submit.
  let submissions: SubmissionRules
  /// What plugins may raise.
  let events: EventRules
  private let stateDirectory: String
  private let readable: ReadablePlaces

  /// - Parameter stateDirectory: The absolute path of the state directory.
  init(_ configuration: HostConfiguration, stateDirectory: String) {
    self.configuration = configuration
    self.stateDirectory = stateDirectory
    redaction = PayloadRedaction(configuration.redact)
    submissions = SubmissionRules(
      others: configuration.maySubmit(),
      mayRead: { path, own in
        own.contains { !EntitledPaths(of: $0, in: configuration, stateDirectory: stateDirectory).entitlement(to: path).isEmpty }
      },
      mayWake: {
        let settings = configuration.plugin($0.rawValue)
        return settings.mayWake || settings.isolation == .thread
      })
    events = EventRules(others: configuration.mayNotify())
    readable = ReadablePlaces(configuration, stateDirectory: stateDirectory)
  }

  /// The paths that the identifier's plugin may use.
  func entitledPaths(of identifier: TaskIdentifier) -> EntitledPaths {
    EntitledPaths(of: identifier, in: configuration, stateDirectory: stateDirectory)
  }

  /// Whether a launch would accept an entitlement to read an absolute path.
  func mayBeEntitled(to path: String) -> Bool { readable.contain(path) }

  /// What a plugin, of which all identifiers and the asking one are given, may have transferred. Throws `notPermitted` if nothing.
  func transferPermission(_ own: [TaskIdentifier], asking identifier: TaskIdentifier) throws(CallFailure) -> TransferPermission {
    try TransferPermission(own, identifier, in: configuration, stateDirectory: stateDirectory)
  }

  /// What is submitted when transfers of these plugins end, each given as its identifiers.
  func completions(among plugins: [[TaskIdentifier]]) -> CompletionRule {
    TransferCompletions.rule { [submissions] target, owner in submissions.mayTell(target, of: owner, among: plugins) }
  }
}

/// The one place that has the rules in force. Whoever needs them asks here each time; a reload replaces them at once.
final class RulesInForce: Sendable {
  private let rules: Mutex<HostRules>

  init(_ rules: HostRules) { self.rules = Mutex(rules) }

  var current: HostRules { rules.withLock { $0 } }

  func set(_ next: HostRules) { rules.withLock { $0 = next } }
}
