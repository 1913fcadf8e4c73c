import ArgumentParser

/// `taskhost tasks`
struct TasksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List, explain, cancel, retry, discard and snooze requests.",
    discussion: """
      EXAMPLES
        taskhost tasks
        taskhost tasks list --state failed
        taskhost tasks why "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks cancel --tag nightly
      """,
    subcommands: [
      TasksListCommand.self, TasksShowCommand.self, TasksWhyCommand.self, TasksCancelCommand.self, TasksRetryCommand.self,
      TasksDiscardCommand.self, TasksSnoozeCommand.self,
    ],
    defaultSubcommand: TasksListCommand.self)
}
