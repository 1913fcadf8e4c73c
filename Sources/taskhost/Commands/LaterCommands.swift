import ArgumentParser

/// Planned commands: they fail with a sentence instead of "unknown command".
enum LaterCommands {
  struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "top", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("top") }
  }

  struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reload", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("reload") }
  }
}
