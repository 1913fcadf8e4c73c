import ArgumentParser
import TaskModel

/// `taskhost tasks cancel`
struct TasksCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel requests.",
    discussion: """
      A request that runs is asked to stop; it is cancelled when its run has ended.
      All ids are tried; the exit code is that of the first that was refused. With
      --tag, --identifier or both, all requests that match are cancelled, but not
      the one that stands for the `schedule` of a plugin in the configuration. By
      its id that is cancelled too, until the host launches again: to end it, remove
      the line; to skip a run, use `tasks snooze`.

      EXAMPLES
        taskhost tasks cancel "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks cancel --tag nightly
        taskhost tasks cancel --identifier org.taskhost.cleanup --tag nightly
      """)

  @Argument(help: "The requests' ids.")
  var ids: [String] = []
  @Option(help: ArgumentHelp("All with this tag.", valueName: "tag"))
  var tag: String?
  @Option(help: ArgumentHelp("All of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Flag(help: "Print the host's answers as JSON, one a line.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func validate() throws {
    let isMatch = tag != nil || identifier != nil
    guard !ids.isEmpty || isMatch else { throw ValidationError("Name the requests to cancel: ids, --tag or --identifier.") }
    guard ids.isEmpty || !isMatch else { throw ValidationError("Ids and --tag or --identifier exclude each other.") }
  }

  func run() async throws {
    let client = socketOptions.client()
    guard ids.isEmpty else {
      return try await ManyRequests.each(ids) { id in
        let answer = try await client.send("DELETE", "/v1/requests/\(ControlClient.escape(id))")
        let request: RequestAnswer = try answer.read()
        for note in request.notes ?? [] { Terminal.note("note: \(id): \(note.escapingControlCharacters)") }
        if json { Terminal.print(answer.bytes) } else { Terminal.print("\(id) \(Self.describe(request))") }
      }
    }
    let answer = try await client.send("DELETE", "/v1/requests?\(ManyRequests.query(tag: tag, identifier: identifier))")
    if json { return Terminal.print(answer.bytes) }
    let count = try answer.read(CancelledAnswer.self).cancelled
    Terminal.print(count == 1 ? "1 request cancelled" : "\(count) requests cancelled")
  }

  private static func describe(_ request: RequestAnswer) -> String { request.state == "running" ? "asked to stop" : request.state }
}
