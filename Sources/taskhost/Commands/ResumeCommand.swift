import ArgumentParser
import TaskHostClient
import TaskModel

struct ResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "End pauses, so that runs begin again.",
    discussion: """
      Names a pause by its number, or by the filter that it was made with; without
      either, the pause of everything ends. What another pause holds keeps waiting:
      `taskhost pause --list` shows what is left. With --fleet, the pauses of the
      whole fleet are meant instead of this host's own; a number says that by itself.

      EXAMPLES
        taskhost pause && taskhost resume
        taskhost pause tag:nightly && taskhost resume tag:nightly
        taskhost pause tag:weekly && taskhost resume --all
      """)

  @Argument(help: ArgumentHelp("The number of a pause, or its filter.", valueName: "pause"))
  var terms: [String] = []
  @Flag(help: "End all pauses.")
  var all = false
  @Flag(help: "End pauses of the fleet.")
  var fleet = false
  @OptionGroup var host: HostOptions

  func validate() throws {
    guard terms.isEmpty || terms.contains(where: { $0.contains { !$0.isWhitespace } }) else {
      throw ValidationError("The filter is empty: leave it out to end the pause of everything, or name a pause.")
    }
    guard all, !terms.isEmpty else { return }
    throw ValidationError("--all ends every pause: leave out what names one.")
  }

  func run() async throws {
    try await host.ask(path, method: "DELETE") { answer in
      for pause in try answer.read(EndedPausesAnswer.self).ended { Terminal.print("\(pause.subject) is resumed") }
    }
  }

  private var path: String {
    if terms.count == 1, let id = PauseID(terms[0]) { return "/v1/pauses/\(id)" }
    let selection = all ? ("all", "true") : ("filter", terms.joined(separator: " "))
    return ControlClient.path("/v1/pauses", [selection, ("fleet", fleet ? "true" : nil)])
  }
}
