import ArgumentParser

/// Commands of the design that this version does not have: they say so instead of "unknown command".
enum LaterCommands {
  /// `taskhost top`
  struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "top", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("top") }
  }

  /// `taskhost reload`
  struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reload", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("reload") }
  }
}
