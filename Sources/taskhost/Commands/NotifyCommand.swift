import ArgumentParser
import StrictText
import TaskHostClient
import TaskModel

struct NotifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notify",
    abstract: "Send an event, to wake the requests that wait for it.",
    discussion: """
      Prints how many requests the event woke, and for how many it was merged into a
      run that was already due. It is not an error if nothing waits for the event.

      EXAMPLES
        taskhost notify deploy
        taskhost notify deploy --payload '{"version": 7}'
      """)

  @Argument(help: "The event's name.")
  var event: String
  @Option(help: ArgumentHelp("The payload for the runs: JSON, @FILE with any bytes, or @- for standard input.", valueName: "json"))
  var payload: String?
  @OptionGroup var host: HostOptions

  func validate() throws {
    guard !event.isEmpty else { throw ValidationError("EVENT is empty: name the event, as in taskhost notify deploy.") }
  }

  func run() async throws {
    let body = try payload.map { payload in try JSONWriter.object { try PayloadArgument.read(payload, into: &$0) } }
    try await host.ask("/v1/events/\(ControlClient.escape(event))", method: "POST", body: body) { answer in
      Terminal.print(Self.sentence(try answer.read()))
    }
  }

  static func sentence(_ answer: EventAnswer) -> String {
    let (event, woken, merged, waiting) = (answer.event.escapingControlCharacters, answer.woken, answer.merged, answer.waiting)
    guard woken > 0 || merged > 0 else { return waiting == 0 ? "\(event): nothing waits for it" : "\(event): woke none of \(waiting)" }
    return "\(event): woke \(woken)" + (merged > 0 ? ", merged \(merged)" : "")
  }
}
