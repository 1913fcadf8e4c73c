import ArgumentParser

/// `taskhost plugins`
struct PluginsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "What is loaded or refused, and why.",
    subcommands: [PluginsListCommand.self, PluginsInspectCommand.self, LaterCommands.Release.self, LaterCommands.Check.self],
    defaultSubcommand: PluginsListCommand.self)
}
