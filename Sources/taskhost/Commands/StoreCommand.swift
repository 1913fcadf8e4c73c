import ArgumentParser
import Glibc
import StrictText
import TaskHost
import TaskModel
import TaskStore
import ValueSealing

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Check, back up, restore, move, compact and seal the host's store. Needs no host.",
    discussion: """
      The store is the database in the state directory. check, backup and export only
      read, and work beside a running host. restore, import and vacuum replace the
      database, and are refused while a host runs: stop it first. Whatever goes
      wrong, the store stays as it was. key makes the keys of a sealed store.

      EXAMPLES
        taskhost store check
        taskhost store backup backup.sqlite
      """,
    subcommands: [
      StoreCheckCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreExportCommand.self, StoreImportCommand.self,
      StoreVacuumCommand.self, StoreKeyCommand.self,
    ])
}

/// The options that say where the store is.
struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The configuration that names the state directory. (default: ./taskhost.toml)", valueName: "file"))
  var config: String?
  @Option(help: ArgumentHelp("The state directory, instead of the configuration's.", valueName: "dir"))
  var state: String?
  @Flag(help: "Print JSON.")
  var json = false

  private func configuration() throws -> HostConfiguration {
    // A named state directory is not that of the machine's host.
    let choice = state == nil ? ConfigurationChoice.ofCommand(config) : .ofHost(config)
    var configuration: HostConfiguration
    do { configuration = try choice.load() } catch { throw CommandFailure(.failed, nil, "\(error)") }
    guard let state, state != configuration.stateDirectory else { return configuration }
    configuration.stateDirectory = state
    // The mark of another store.
    configuration.storeMark = nil
    return configuration
  }

  /// Does `body`. With `--json`, its failure is an object on standard output too.
  func answering<Value>(_ body: () throws -> Value) throws -> Value { try CommandFailure.answering(inJSON: json, body) }

  /// The keys of the store.
  func sealing(_ keys: StoreKeyOptions) throws -> StoreSealing? { try answering { try readSealing(keys) } }

  private func readSealing(_ keys: StoreKeyOptions) throws -> StoreSealing? {
    let configuration = try configuration()
    let user = StateDirectory.hostUser(of: configuration.stateDirectory)
    if let file = keys.keyFile {
      do throws(KeyFileError) {
        return StoreSealing(
          keys: try KeyFile.read(file, user: user), seals: configuration.encryption.hasKeys ? configuration.encryption.seal : true)
      } catch { throw CommandFailure(.failed, error.path.escapingControlCharacters, error.observed, remedy: error.remedy) }
    }
    do { return try configuration.sealing(user: user) } catch { throw CommandFailure(.failed, nil, error.message) }
  }

  /// Runs `body` beside a host that may run.
  func read<Value>(_ body: (StorePlace, StoreStep.Observer) throws(StoreCareError) -> Value) throws -> Value {
    try answering { try Self.reporting(StateDirectory.store(of: try configuration()), body) }
  }

  /// Runs `body` while no host can use the store.
  ///
  /// - Parameter needsStore: Whether there must be a store already.
  func replace<Value>(
    needsStore: Bool = false, _ body: (StorePlace, StoreStep.Observer) throws(StoreCareError) -> Value
  ) throws -> Value {
    try answering { try replaced(needsStore: needsStore, body) }
  }

  private func replaced<Value>(
    needsStore: Bool, _ body: (StorePlace, StoreStep.Observer) throws(StoreCareError) -> Value
  ) throws -> Value {
    let configuration = try configuration()
    if needsStore {
      try Self.reporting(StateDirectory.store(of: configuration)) { (place, _) throws(StoreCareError) in try place.checkExists() }
    }
    let directory: StateDirectory
    do { directory = try StateDirectory(forChangesTo: configuration) } catch { throw CommandFailure(.refused, nil, error.message) }
    return try withExtendedLifetime(directory) { try Self.reporting(StateDirectory.store(of: configuration), body) }
  }

  private static func reporting<Value>(
    _ place: StorePlace, _ body: (StorePlace, StoreStep.Observer) throws(StoreCareError) -> Value
  ) throws -> Value {
    do throws(StoreCareError) {
      return try StoreSteps.showing { (step) throws(StoreCareError) in try body(place, step) }
    } catch { throw StoreSteps.failure(error) }
  }
}

/// Shows on a terminal how far long work with records has come.
final class StoreSteps {
  private var drawn = ""

  /// Does `body`, and shows its steps. Beyond the limit of a file's size, what it writes fails with a reason.
  static func showing<Value, Failure>(_ body: (@escaping StoreStep.Observer) throws(Failure) -> Value) throws(Failure) -> Value {
    signal(SIGXFSZ, SIG_IGN)
    let steps = StoreSteps()
    defer { steps.end() }
    return try body { steps.show($0) }
  }

  private func show(_ step: StoreStep) {
    let line = step.percent.map { "\(step.what) [\(ProgressBar.bar($0, ProgressBar.widestBar))] \($0) %" } ?? "\(step.what) ..."
    if line != drawn { Terminal.progress(line) }
    drawn = line
  }

  private func end() {
    if !drawn.isEmpty { Terminal.progress("") }
    drawn = ""
  }

  static func failure(_ error: StoreCareError) -> CommandFailure {
    CommandFailure(
      .failed, error.path.map(\.escapingControlCharacters), error.observed.escapingControlCharacters, remedy: error.remedy)
  }
}

/// The option that says where the store's keys are.
struct StoreKeyOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The keys of a sealed store, instead of those of the configuration.", valueName: "file"))
  var keyFile: String?
}

/// Words about a store.
enum StoreText {
  /// Says where the replaced store is.
  static func tell(replaced path: String) {
    Terminal.note("the replaced store is \(path.escapingControlCharacters): delete it once you need it no more")
  }

  static func records(_ requests: Int, _ runs: Int) -> String { "\(count(requests, "request")) and \(count(runs, "run"))" }

  /// A number of things.
  static func count(_ count: Int, _ thing: String) -> String { "\(count) \(thing)\(count == 1 ? "" : "s")" }

  /// What of a whole store is sealed.
  static func sentence(about sealed: SealedContent) -> String {
    let values = sealed.sealed == 1 ? "1 value is" : "\(sealed.sealed) values are"
    guard let key = sealed.key else {
      return sealed.sealed == 0 ? "no value is sealed" : "\(values) still sealed; the host writes them plain"
    }
    let earlier = sealed.sealedEarlier == 0 ? "" : "; \(sealed.sealedEarlier) of them with an earlier key, and the host seals these anew"
    return
      "\(values) sealed, and each opens (key \(key))\(earlier)\(sealed.isProved ? "; no plaintext is left in the database and its log" : "")"
  }

  /// Writes what an examination found, on standard error.
  static func tell(_ findings: [StoreInspection.Finding]) {
    for finding in findings {
      Terminal.note("! \(finding.kind.rawValue): \(finding.observed.escapingControlCharacters)\n  \(finding.remedy)")
    }
  }
}

extension JSONWriter {
  /// What of a store is sealed, as the member `name`.
  mutating func sealed(_ name: String, _ sealed: SealedContent) {
    object(name) { writer in
      writer.member("key", sealed.key?.description)
      writer.member("sealed", sealed.sealed)
      writer.member("sealed_with_earlier_keys", sealed.sealedEarlier)
      writer.member("plain", sealed.plain)
      writer.member("damaged", sealed.damaged)
      writer.member("no_plaintext_is_left", sealed.isProved)
    }
  }

  /// What an examination found, as the member `name`.
  mutating func findings(_ name: String, _ findings: [StoreInspection.Finding]) {
    array(name, findings) { writer, finding in
      writer.member("kind", finding.kind.rawValue)
      writer.member("observed", finding.observed)
      writer.member("remedy", finding.remedy)
    }
  }
}
