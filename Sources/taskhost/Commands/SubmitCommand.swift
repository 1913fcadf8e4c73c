import ArgumentParser
import HostControl
import TaskModel

/// `taskhost submit`
struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Ask for a task to be run.",
    discussion: """
      Prints the request's id. With --wait it follows one occurrence: progress and
      log on standard error, the final message and output on standard output; the
      exit code is 0 when it succeeded, 1 when it failed, 4 when it was cancelled,
      5 when the host went away.

      EXAMPLES
        taskhost submit org.taskhost.cleanup --payload '{"days": 7}' --wait
        taskhost submit com.example.report --at '2026-11-21 08:00'
        taskhost submit org.taskhost.token-refresh --every 6h --key token
        generate | taskhost submit com.example.import --payload @- --after 15m
      """)

  @Argument(help: "Whose handler is to run.")
  var identifier: String
  @Option(help: ArgumentHelp("JSON, or @FILE with any bytes, or @- for standard input.", valueName: "json"))
  var payload: String?
  @Option(help: ArgumentHelp("Not before that long from now: 90s, 15m, 1h30m.", valueName: "duration"))
  var after: String?
  @Option(help: ArgumentHelp("Not before that moment: 2026-11-21T08:00:00Z, or '2026-11-21 08:00' local time.", valueName: "time"))
  var at: String?
  @Option(help: .hidden)
  var deadline: String?
  @Option(help: ArgumentHelp("Again and again, that far apart: 6h.", valueName: "duration"))
  var every: String?
  @Option(help: .hidden)
  var cron: String?
  @Option(help: .hidden)
  var tz: String?
  @Option(help: ArgumentHelp("What it needs of the machine: power,network,idle, …", valueName: "names"))
  var requires: String?
  @Option(help: ArgumentHelp("Only one live request of the identifier holds this key.", valueName: "key"))
  var key: String?
  @Option(help: ArgumentHelp("What to do when the key is held: keep (default) or replace.", valueName: "policy"))
  var onConflict: String?
  @Option(parsing: .unconditional, help: ArgumentHelp("-10 to 10; higher goes first.", valueName: "number"))
  var priority: Int?
  @Option(name: .customLong("tag"), help: ArgumentHelp("For listing; may be repeated.", valueName: "tag"))
  var tags: [String] = []
  @Flag(help: "Follow it until one occurrence has ended.")
  var wait = false
  @Flag(help: "Print the host's answer as JSON; with --wait, the submission and the run.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let client = socketOptions.client()
    let body = try self.body()
    // Subscribed first: whatever happens to the request is in the stream.
    let events = wait ? try await client.subscribe() : nil
    let submission = try await client.post("/v1/requests", body)
    report(submission)
    guard let events, let id = submission.node["id"]?.string else {
      return Terminal.print(json ? submission.bytes : Array((submission.node["id"]?.string ?? "").utf8))
    }
    var isRepeating = every != nil
    if submission.node["disposition"]?.string == "kept" {
      isRepeating = try await client.get("/v1/requests/\(id)").node["every_ms"] != nil
    }
    let session = FollowSession(client: client, request: id, isRepeating: isRepeating, json: json ? submission : nil)
    try await session.follow(events)
  }

  /// Tells a person what is not in the id.
  private func report(_ answer: ControlClient.Answer) {
    for note in answer.node["notes"]?.array ?? [] { Terminal.note("note: \((note.string ?? "").escapingControlCharacters)") }
    guard !json else { return }
    if let disposition = answer.node["disposition"]?.string, disposition != "created" {
      Terminal.note("\(disposition): \(answer.node["id"]?.string ?? "")")
    }
    if Terminal.errorIsTerminal, let start = answer.node["next_start_unix_ms"]?.integer {
      Terminal.note("starts \(MomentText.relative(start, now: ControlServer.systemTime().unixMilliseconds))")
    }
  }

  /// The body of `POST /v1/requests`.
  func body() throws -> [UInt8] {
    guard after == nil || at == nil else { throw ValidationError("--after and --at exclude each other.") }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("identifier", identifier)
    if let payload { try PayloadArgument.read(payload, into: &writer) }
    writer.member("delay_ms", try after.map { try duration($0, "--after") })
    writer.member("earliest_begin_unix_ms", try at.map { try moment($0, "--at") })
    writer.member("deadline", deadline)
    writer.member("every_ms", try every.map { try duration($0, "--every") })
    writer.member("cron", cron)
    writer.member("time_zone", tz)
    if let requires { writer.member("conditions", requires.split(separator: ",").map(String.init)) }
    writer.member("unique_key", key)
    writer.member("on_conflict", onConflict)
    writer.member("priority", priority)
    if !tags.isEmpty { writer.member("tags", tags) }
    writer.endObject()
    return writer.bytes
  }

  private func duration(_ text: String, _ option: String) throws -> Int64 {
    guard let milliseconds = DurationText.parse(text) else {
      throw ValidationError("\(option): '\(text)' is no duration: write 90s, 15m, 1h30m or 2d.")
    }
    return milliseconds
  }

  private func moment(_ text: String, _ option: String) throws -> Int64 {
    guard let time = MomentText.parse(text) else {
      throw ValidationError("\(option): '\(text)' is no moment: write 2026-11-21T08:00:00Z, or '2026-11-21 08:00' for local time.")
    }
    return time.unixMilliseconds
  }
}
