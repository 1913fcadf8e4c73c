import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check a configuration, look its keys up, and compare it.",
    discussion: """
      Without FILE, the commands take what the host would: ./taskhost.toml, or
      otherwise the defaults; where no host has run in this directory,
      /etc/taskhost/taskhost.toml.

      EXAMPLES
        taskhost config check
        taskhost config reference plugin
        taskhost config diff
      """,
    subcommands: [ConfigCheckCommand.self, ConfigReferenceCommand.self, ConfigDiffCommand.self])
}

/// The configuration that a command is about, and a host to compare it with.
struct ConfigurationArgument: ParsableArguments {
  @Argument(help: "The configuration. (default: ./taskhost.toml, or what the host would take without it)")
  var file: String?
  @Flag(help: "Print JSON.")
  var json = false

  var choice: ConfigurationChoice { .ofCommand(file) }
}
