import ArgumentParser

struct PluginsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "Show which plugins are loaded or refused, and why; tools for authors.",
    discussion: """
      EXAMPLES
        taskhost plugins
        taskhost plugins release org.taskhost.cleanup
        taskhost plugins check ./hello-c.so
      """,
    subcommands: [
      PluginsListCommand.self, PluginsInspectCommand.self, PluginsNewCommand.self, PluginsCheckCommand.self, PluginsReleaseCommand.self,
      PluginsKeygenCommand.self, PluginsSignCommand.self, PluginsVerifyCommand.self,
    ],
    defaultSubcommand: PluginsListCommand.self)
}
