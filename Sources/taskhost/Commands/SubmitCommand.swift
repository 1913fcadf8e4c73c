import ArgumentParser
import StrictText
import TaskModel

struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Submit a request to run a task.",
    discussion: """
      Prints the request's id, and at a terminal also its start time. With --wait,
      the command follows one occurrence: it prints progress and log to standard
      error, and the final message and output to standard output. It then exits 0 if
      the occurrence succeeded, 1 if it failed, 4 if it was cancelled, and 5 if the
      host went away. With --wait and --json, it prints the submission and the run.
      Control characters in the output are escaped at a terminal; a file or a pipe
      gets the bytes unchanged.

      EXAMPLES
        taskhost submit org.taskhost.cleanup --payload '{"dry_run": true}' --wait
        taskhost submit com.example.report --at '2026-11-21 08:00'
        taskhost submit org.taskhost.token-refresh --every 6h --flex 30m --key token
        taskhost submit com.example.report --cron '0 8 * * *' --tz Europe/Berlin
        taskhost submit com.example.deploy --on-event push --every-event
        taskhost submit com.example.ci --follows "$(taskhost submit com.example.ci)"
        date | taskhost submit com.example.import --payload @- --after 15m
      """)

  @Argument(help: "The identifier whose handler is to run.")
  var identifier: String
  @Option(name: .field(.payload), help: ArgumentHelp("JSON, @FILE with any bytes, or @- for standard input.", valueName: "json"))
  var payload: String?
  @OptionGroup(title: "When") var schedule: ScheduleOptions
  @OptionGroup(title: "Events") var events: EventOptions
  @OptionGroup(title: "Requirements") var needs: NeedOptions
  @OptionGroup(title: "Keys") var keys: KeyOptions
  @Option(
    name: .field(.priority), parsing: .unconditional, help: ArgumentHelp("-10 to 10; a higher priority runs first.", valueName: "number"))
  var priority: Int?
  @Option(name: .field(.tags), help: ArgumentHelp("A tag for listing and cancelling; may be repeated.", valueName: "tag"))
  var tags: [String] = []
  @Flag(help: "Follow the request until one occurrence has ended.")
  var wait = false
  @Flag(help: "While the fleet's database is away, let the host keep the request, and submit it once when that answers.")
  var park = false
  @OptionGroup var host: HostOptions

  func validate() throws {
    guard !park || !wait else { throw ValidationError("--park does not wait for what is parked: leave out --wait.") }
  }

  mutating func run() async throws {
    let waited = events.sentence ?? needs.sentence
    try await needs.findPredecessors(host.client())
    let path = park ? ControlClient.path("/v1/requests", [("park", "true")]) : "/v1/requests"
    try await Submitting.submit(try body(), to: path, wait: wait, waitingFor: waited, host)
  }

  /// The body of `POST /v1/requests`.
  func body() throws -> [UInt8] {
    let body = try JSONWriter.object { writer in
      writer.member(RequestField.identifier, identifier)
      if let payload { try PayloadArgument.read(payload, into: &writer) }
      try schedule.write(into: &writer)
      try events.write(into: &writer)
      try needs.write(into: &writer)
      try keys.write(into: &writer)
      writer.member(RequestField.priority, priority)
      if !tags.isEmpty { writer.member(RequestField.tags.rawValue, tags) }
    }
    try checkChoice(in: body)
    return body
  }

  /// Refuses options that exclude each other or require a missing one, by the host's rule for fields.
  private func checkChoice(in body: [UInt8]) throws {
    let limits = JSONLimits(opaqueMembers: [RequestField.payload.rawValue])
    guard case .object(let members) = try JSONReader.read(body, limits: limits).value else { return }
    let given = members.compactMap { RequestField(rawValue: $0.name) }
    if let (_, sentence) = RequestField.misfit(among: given, name: { "--\($0.option)" }) { throw ValidationError("\(sentence).") }
  }
}
