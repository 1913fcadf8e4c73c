import ArgumentParser

/// `taskhost tasks discard`
struct TasksDiscardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discard",
    abstract: "Discard failed requests: nobody will retry them.",
    discussion: """
      A request that failed for good is kept until it is retried or discarded. One
      that is discarded is cancelled, and goes with the history. All ids are tried;
      the exit code is that of the first that was refused. With --all, all requests
      that have failed are discarded, many in one commit.

      EXAMPLES
        taskhost tasks discard --all --identifier com.example.report
        taskhost tasks discard --all --tag nightly
      """)

  @Argument(help: "The requests' ids.")
  var ids: [String] = []
  @Flag(help: "All that have failed.")
  var all = false
  @Option(help: ArgumentHelp("With --all: only those of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("With --all: only those with this tag.", valueName: "tag"))
  var tag: String?
  @Flag(help: "Print the host's answers as JSON, one a line.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func validate() throws {
    guard !ids.isEmpty || all else { throw ValidationError("Name the requests to discard: ids, or --all.") }
    guard ids.isEmpty || !all else { throw ValidationError("Ids and --all exclude each other.") }
    guard all || (identifier == nil && tag == nil) else { throw ValidationError("--identifier and --tag go with --all.") }
  }

  func run() async throws {
    let client = socketOptions.client()
    if all { return try await discardAll(client) }
    try await ManyRequests.each(ids) { id in
      let answer = try await client.post("/v1/requests/\(ControlClient.escape(id))/discard")
      if json { Terminal.print(answer.bytes) } else { Terminal.print("\(id) discarded") }
    }
  }

  private func discardAll(_ client: ControlClient) async throws {
    var count = 0
    let query = ManyRequests.query(tag: tag, identifier: identifier)
    try await ManyRequests.pages(of: DiscardedAnswer.self, "POST", "/v1/requests/discard", query, client, json: json) { page in
      count += page.discarded.count
      if !json { for id in page.discarded { Terminal.print("\(id) discarded") } }
    }
    if count == 0 { Terminal.note("no request has failed") }
  }
}
