import ArgumentParser
import RecordJSON
import StrictText
import TaskHost
import TaskHostClient
import TaskModel

struct ConfigDiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show where a configuration differs from the defaults, or from what a running host has loaded.",
    discussion: """
      Values that may hold secrets are shown as "•••". A running host does not tell
      them, so that a change of one of them is not seen.

      EXAMPLES
        taskhost config diff
        taskhost config diff taskhost.toml --json
        taskhost config diff --against state/control.sock

      EXIT CODES
        0 whether or not there is a difference, 5 no host is running there,
        78 the configuration cannot be read
      """)

  @OptionGroup var argument: ConfigurationArgument
  @OptionGroup var running: RunningHostOptions

  func run() async throws {
    let configuration: HostConfiguration
    do throws(ConfigurationError) { configuration = try argument.choice.load() } catch {
      for line in "\(error)".split(separator: "\n") { Terminal.note("taskhost: \(line)") }
      throw ExitCode(HostFailure.ExitCode.configuration.rawValue)
    }
    guard let client = try running.client() else { return printDefaults(configuration.settings()) }
    let loaded = try await client.loadedConfiguration()
    let changes = ConfigurationChange.all(from: loaded, to: configuration)
    guard !argument.json else { return Terminal.printObject { $0.array("changes", changes) { $0.change($1) } } }
    ConfigurationChangeText.print(changes)
  }

  private func printDefaults(_ values: [ConfiguredValue]) {
    guard !argument.json else { return Terminal.printObject { $0.array("values", values) { $0.configuredValue($1) } } }
    var table = TextTable(.name("KEY"), "VALUE", "DEFAULT")
    for value in values { table.add(value.key, value.value ?? "(none)", value.standard ?? "(none)") }
    table.print(empty: "nothing differs from the defaults")
  }
}
