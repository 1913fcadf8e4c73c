import ArgumentParser
import StrictText
import TaskHostClient
import TaskModel

struct TasksCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel requests.",
    discussion: """
      The host asks a running request to stop, and cancels it when its run has ended.
      The command tries all ids; its exit code is that of the first refusal. With
      --tag, --identifier or both, it cancels all matching requests, except those of
      a plugin's `schedule` in the configuration. Cancel such a request by its id;
      the next launch of the host submits it again. To end the schedule, remove its
      line; to skip a run, use `tasks snooze`.

      With --filter, it cancels every matching request that has not ended, a hundred
      in one commit, so that runs go on meanwhile. It asks first, unless --yes is
      given.

      EXAMPLES
        taskhost tasks cancel --filter 'state:pending payload.account:x' --dry-run
        taskhost tasks cancel "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks cancel --tag nightly
        taskhost tasks cancel --identifier org.taskhost.cleanup --tag nightly
      """)

  @Argument(help: "The requests' ids, their beginnings, or IDENTIFIER/KEY.")
  var ids: [String] = []
  @Option(help: ArgumentHelp("All requests with this tag.", valueName: "tag"))
  var tag: String?
  @Option(help: ArgumentHelp("All requests of this identifier.", valueName: "identifier"))
  var identifier: String?
  @OptionGroup var bulk: BulkOptions
  @OptionGroup var host: HostOptions

  func validate() throws {
    if bulk.filter != nil {
      guard ids.isEmpty, tag == nil, identifier == nil else {
        throw ValidationError("--filter excludes ids, --tag and --identifier: say it in the filter.")
      }
      return
    }
    let isMatch = tag != nil || identifier != nil
    guard !ids.isEmpty || isMatch else { throw ValidationError("Name the requests to cancel: ids, --tag or --identifier, or --filter.") }
    guard ids.isEmpty || !isMatch else { throw ValidationError("Ids and --tag or --identifier exclude each other.") }
  }

  /// Cancels the requests one by one, and tries all.
  ///
  /// - Parameter path: The route of all requests, or of the kind that is meant.
  static func cancel(_ ids: [String], at path: String = "/v1/requests", _ host: HostOptions) async throws {
    let client = try host.client()
    try await FailedRequests.each(ids) { text in
      let id = try await ShortID.request(text, client)
      let answer = try await client.send("DELETE", "\(path)/\(ControlClient.escape(id))")
      let request: RequestAnswer = try answer.read()
      for note in request.notes ?? [] { Terminal.note("note: \(id): \(note.escapingControlCharacters)") }
      let state = request.state == "running" ? "asked to stop" : request.state
      Terminal.print(host.json ? answer.bytes : Array("\(id) \(state)".utf8))
    }
  }

  func run() async throws {
    if let filter = bulk.filter { return try await BulkSession(action: .cancel, filter: filter, options: bulk, host: host).run() }
    guard ids.isEmpty else { return try await Self.cancel(ids, host) }
    var count = 0
    do {
      // One object is printed, however many parts there are.
      try await Listing.pages(
        of: CancelledAnswer.self, "DELETE", "/v1/requests", [("tag", tag), ("identifier", identifier)], atOnce: 1000, host, prints: false
      ) { part in
        count = count.adding(saturating: Int(clamping: part.cancelled))
        Terminal.progress("\(BulkSession.counted(count)) cancelled ...")
      }
    } catch {
      BulkSession.noteRest(of: .cancel, done: count)
      throw error
    }
    if host.json {
      Terminal.printObject { $0.member("cancelled", count) }
    } else {
      Terminal.print("\(BulkSession.counted(count)) cancelled")
    }
  }
}
