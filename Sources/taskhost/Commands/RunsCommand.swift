import ArgumentParser

/// `taskhost runs`
struct RunsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "The history: what ran, how it ended, what it wrote.",
    discussion: """
      EXAMPLES
        taskhost runs
        taskhost runs show "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
        taskhost runs logs -f "$(taskhost runs list --limit 1 | awk 'END {print $1}')"
      """,
    subcommands: [RunsListCommand.self, RunsShowCommand.self, RunsLogsCommand.self],
    defaultSubcommand: RunsListCommand.self)
}
