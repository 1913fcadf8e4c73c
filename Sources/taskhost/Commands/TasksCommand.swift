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
        taskhost tasks why 01976c1e-0000-7000-8000-000000000000
        taskhost tasks cancel --tag nightly
      """,
    subcommands: [
      TasksListCommand.self, TasksShowCommand.self, TasksWhyCommand.self, TasksCancelCommand.self, TasksRetryCommand.self,
      TasksDiscardCommand.self, TasksSnoozeCommand.self,
    ],
    defaultSubcommand: TasksListCommand.self)
}
