import ArgumentParser

/// `taskhost plugins`
struct PluginsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "What is loaded or refused, and why.",
    subcommands: [
      PluginsListCommand.self, PluginsInspectCommand.self, PluginsReleaseCommand.self, PluginsKeygenCommand.self, PluginsSignCommand.self,
      PluginsVerifyCommand.self, LaterCommands.Check.self,
    ],
    defaultSubcommand: PluginsListCommand.self)
}
