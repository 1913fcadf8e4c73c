import ArgumentParser

/// `taskhost runs`
struct RunsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "The history: what ran, how it ended, what it wrote.",
    subcommands: [RunsListCommand.self, RunsShowCommand.self, RunsLogsCommand.self],
    defaultSubcommand: RunsListCommand.self)
}
