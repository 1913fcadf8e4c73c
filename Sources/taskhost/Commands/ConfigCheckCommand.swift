import ArgumentParser
import StrictText
import TaskHost
import TaskHostClient
import TaskModel

struct ConfigCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a configuration as taskhost run would, without a launch.",
    discussion: """
      Reports every problem at once: of the file, with line and key, and of what it
      names: plugin directories and the files in them, keys, certificates, tokens,
      programs, paths. Runs no plugin's code, so it does not see what only a launch
      shows. With --against, it says too what would change on a running host. It
      looks as the user who runs it, and names what is closed to that user and was
      not checked.

      EXAMPLES
        taskhost config check
        taskhost config check taskhost.toml --json
        taskhost config check --against state/control.sock

      EXIT CODES
        0 a host would start, perhaps with warnings
        78 it would not, as for taskhost run
      """)

  @OptionGroup var argument: ConfigurationArgument
  @OptionGroup var running: RunningHostOptions

  func run() async throws {
    let choice = argument.choice
    var findings: [Finding] = []
    var changes: [ConfigurationChange]?
    do {
      let configuration = try choice.load()
      findings = try await ControlCaller.onThread("review") { Self.review(configuration) }
      if let client = try running.client() {
        let loaded = try await client.loadedConfiguration()
        changes = ConfigurationChange.all(from: loaded, to: configuration)
        findings += try await TakeoverReview(loaded: loaded, configuration: configuration, client: client).findings()
      }
    } catch let error as ConfigurationError { findings = error.findings }
    let isStopped = findings.contains(where: \.preventsLaunch)
    if argument.json { printJSON(choice, findings, changes, isStopped) } else { printText(choice, findings, changes, isStopped) }
    if isStopped { throw ExitCode(HostFailure.ExitCode.configuration.rawValue) }
  }

  /// Everything that is wrong.
  static func review(_ configuration: HostConfiguration) -> [Finding] {
    let access = AccessReview(configuration: configuration, looksIntoState: false)
    let findings = (LaunchReview(configuration).findings() + access.findings()).filter { $0.verdict != .ok }
    return ClosedFiles(configuration).review(findings)
  }

  private func printText(_ choice: ConfigurationChoice, _ findings: [Finding], _ changes: [ConfigurationChange]?, _ isStopped: Bool) {
    FindingText.print(findings)
    let verdict = isStopped ? "a host would not start" : "a host would start"
    Terminal.print("\(choice.text): \(FindingText.summary(of: findings)): \(verdict)".escapingControlCharacters)
    guard let changes else { return }
    Terminal.print("")
    ConfigurationChangeText.print(changes)
  }

  private func printJSON(_ choice: ConfigurationChoice, _ findings: [Finding], _ changes: [ConfigurationChange]?, _ isStopped: Bool) {
    Terminal.printObject { writer in
      if case .file(let file) = choice { writer.member("configuration", file) }
      writer.member("starts", !isStopped)
      writer.array("findings", findings) { $0.finding($1) }
      if let changes { writer.array("changes", changes) { $0.change($1) } }
    }
  }
}
