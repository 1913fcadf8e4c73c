import ArgumentParser
import Glibc
import StrictText
import TaskHost
import TaskHostClient
import TaskModel

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check everything that would make tonight's runs fail, each with its remedy.",
    discussion: """
      Looks at the configuration and what it names, the kernel, limits, clock, disk,
      the state directory and its store, certificates and tokens with their ends,
      programs, plugins, what schedules require of this machine, and whether
      receivers can be reached. It needs no host; one that runs
      is asked for its problems. It runs no plugin's code, and changes nothing.

      As root, it looks as the user who owns the state directory: the host's. What a
      unit of systemd grants or takes besides is not seen.

      EXAMPLES
        taskhost doctor --offline
        taskhost doctor --json --offline
        taskhost doctor --config taskhost.toml --offline

      EXIT CODES
        0 nothing is wrong, or there are only warnings; 1 something will fail
      """)

  @Option(help: ArgumentHelp("The configuration. (default: ./taskhost.toml, or what the host would take without it)", valueName: "file"))
  var config: String?
  @Flag(help: "Connect to no receiver: send nothing over the network.")
  var offline = false
  @Flag(help: "Only what is wrong.")
  var quiet = false
  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let findings = await Self.examine(.ofCommand(config), offline: offline)
    try FindingText.report(findings, quiet: quiet, json: json)
  }

  /// Everything that was looked at.
  static func examine(_ choice: ConfigurationChoice, offline: Bool) async -> [Finding] {
    let configuration: HostConfiguration
    do throws(ConfigurationError) { configuration = try choice.load() } catch { return error.findings }
    var findings: [Finding] = []
    do throws(UserSwitch.Failure) { try UserSwitch.become(ownerOf: configuration) } catch {
      findings.append(Finding(.stateDirectory, .warning, error.description, why: "what follows is what root sees"))
    }
    let host = await HostReview(configuration).findings()
    let isRunning = host.contains { $0.verdict == .ok }
    let own = try? await ControlCaller.onThread("review") { () -> [Finding] in
      let review =
        LaunchReview(configuration).findings() + AccessReview(configuration: configuration).findings()
        + AccountReview(configuration, isRunning: isRunning).findings()
      return readable(choice) + wellKnown(review, configuration) + MachineReview(configuration, isRunning: isRunning).findings()
    }
    // What the kernel lacks, the host lacks too: it is said once.
    let told = Set((own ?? []).filter { $0.topic == .sandbox }.map(\.seen))
    findings += host.filter { $0.topic != .cgroups || !told.contains($0.seen) }
    findings += own ?? [Finding(.limits, .failure, "no thread could be started", remedy: "raise the limit (ulimit -u, TasksMax=)")]
    if !offline { findings += await ReceiverReview(configuration).findings() }
    return findings
  }

  /// Whether the user that looks can read the file, which root may have read for it.
  private static func readable(_ choice: ConfigurationChoice) -> [Finding] {
    guard case .file(let file) = choice else { return [Finding(.configuration, .ok, "there is no file, so the defaults count")] }
    guard access(file, R_OK) != 0 else { return [Finding(.configuration, .ok, "user \(geteuid()) can read \(file)")] }
    return [
      .obstacle(
        .configuration, of: file, "user \(geteuid()) cannot read \(file): \(String(cString: strerror(errno)))",
        remedy: "let the host's user read it")
    ]
  }

  /// The review, and that a topic is well about which it says nothing.
  private static func wellKnown(_ review: [Finding], _ configuration: HostConfiguration) -> [Finding] {
    let told = Set(review.map(\.topic))
    var findings = review
    let directories = configuration.pluginDirectories.count
    if !told.contains(.plugins), directories > 0 {
      findings.append(
        Finding(
          .plugins, .ok, "every file in \(directories == 1 ? "the plugin directory" : "\(directories) plugin directories") may be loaded"))
    }
    if !told.contains(.commands), !configuration.commands.isEmpty {
      findings.append(Finding(.commands, .ok, "the programs of all commands can be started"))
    }
    return findings
  }
}
