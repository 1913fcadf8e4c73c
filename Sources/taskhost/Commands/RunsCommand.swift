import ArgumentParser

/// `taskhost runs`
struct RunsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "The history: what ran, how it ended, what it wrote.",
    discussion: """
      EXAMPLES
        taskhost runs
        taskhost runs show 01976c1e-0000-7000-8000-000000000001
        taskhost runs logs -f 01976c1e-0000-7000-8000-000000000001
      """,
    subcommands: [RunsListCommand.self, RunsShowCommand.self, RunsLogsCommand.self],
    defaultSubcommand: RunsListCommand.self)
}
