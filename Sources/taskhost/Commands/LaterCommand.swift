import ArgumentParser

/// A planned command: it fails with a sentence instead of "unknown command".
struct LaterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload", abstract: "Comes with a later version.", shouldDisplay: false)
  @Argument(parsing: .captureForPassthrough) var rest: [String] = []

  func run() throws {
    throw CommandFailure(
      .refused, "reload", "comes with a later version of taskhost", remedy: "see taskhost --help for what this one offers")
  }
}
