import ArgumentParser
import TaskModel

/// `taskhost tasks retry`
struct TasksRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Make failed requests pending again, with all their attempts.",
    discussion: """
      What failed because of a request waits for it again, and runs after it; what
      cannot is named. A request whose own predecessor has failed is refused: retry
      that one.

      All ids are tried; the exit code is that of the first that was refused. With
      --all, all requests that have failed for good, the dead letters, are retried,
      many in one commit; one whose unique key another holds by now stays.

      EXAMPLES
        taskhost tasks retry --all --identifier com.example.report
        taskhost tasks retry --all --tag nightly
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
    guard !ids.isEmpty || all else { throw ValidationError("Name the requests to retry: ids, or --all.") }
    guard ids.isEmpty || !all else { throw ValidationError("Ids and --all exclude each other.") }
    guard all || (identifier == nil && tag == nil) else { throw ValidationError("--identifier and --tag go with --all.") }
  }

  func run() async throws {
    let client = socketOptions.client()
    if all { return try await retryAll(client) }
    try await ManyRequests.each(ids) { id in
      let answer = try await client.post("/v1/requests/\(ControlClient.escape(id))/retry")
      guard !json else { return Terminal.print(answer.bytes) }
      let request: RequestAnswer = try answer.read()
      Terminal.print("\(id) \(request.state)")
      // What comes back with it, and what does not.
      if let message = request.lastMessage, message.hasPrefix("retried: ") {
        Terminal.note(message.escapingControlCharacters)
      }
    }
  }

  /// Retries the dead letters that match, a commit for some at a time.
  private func retryAll(_ client: ControlClient) async throws {
    var (hasFailed, hasRefused) = (false, false)
    let query = ManyRequests.query(tag: tag, identifier: identifier)
    try await ManyRequests.pages(of: RetriedAnswer.self, "POST", "/v1/requests/retry", query, client, json: json) { page in
      if !json { for id in page.retried { Terminal.print("\(id) pending") } }
      for refusal in page.refused { Terminal.note("taskhost: \(refusal.id): \(refusal.message.escapingControlCharacters)") }
      hasFailed = hasFailed || !page.retried.isEmpty || !page.refused.isEmpty
      hasRefused = hasRefused || !page.refused.isEmpty
    }
    if !hasFailed { Terminal.note("no request has failed") }
    if hasRefused { throw ExitCode(ExitStatus.refused.rawValue) }
  }
}
