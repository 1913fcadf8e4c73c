import ArgumentParser

/// Commands of the design that this version does not have: they say so instead of "unknown command".
enum LaterCommands {
  /// `taskhost conditions`
  struct Conditions: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "conditions", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("conditions") }
  }

  /// `taskhost notify`
  struct Notify: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "notify", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("notify") }
  }

  /// `taskhost forecast`
  struct Forecast: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "forecast", abstract: "Comes with a later version.", shouldDisplay: false)
    @Argument(parsing: .captureForPassthrough) var rest: [String] = []
    func run() throws { throw CommandFailure.later("forecast") }
  }

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
