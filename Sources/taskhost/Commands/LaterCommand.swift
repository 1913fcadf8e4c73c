import ArgumentParser

/// Planned commands: they fail with a sentence instead of "unknown command".
struct LaterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Comes with a later version.", shouldDisplay: false, aliases: ["reload"])
  @Argument(parsing: .captureForPassthrough) var rest: [String] = []

  func run() throws {
    throw CommandFailure(
      .refused, "top and reload", "come with a later version of taskhost", remedy: "see taskhost --help for what this one offers")
  }
}
