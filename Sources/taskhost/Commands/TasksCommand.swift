import ArgumentParser

/// `taskhost tasks`
struct TasksCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List, explain, cancel and retry requests.",
    subcommands: [
      TasksListCommand.self, TasksShowCommand.self, TasksWhyCommand.self, TasksCancelCommand.self, TasksRetryCommand.self,
    ],
    defaultSubcommand: TasksListCommand.self)
}
