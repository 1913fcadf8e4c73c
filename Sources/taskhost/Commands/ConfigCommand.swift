import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Look the keys of a configuration up.",
    discussion: """
      EXAMPLES
        taskhost config reference plugin
      """,
    subcommands: [ConfigReferenceCommand.self])
}
