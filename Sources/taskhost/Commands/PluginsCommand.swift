import ArgumentParser

/// `taskhost plugins`
struct PluginsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "What is loaded or refused, and why; what authors need.",
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
