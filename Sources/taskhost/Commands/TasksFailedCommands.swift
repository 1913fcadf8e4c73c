import ArgumentParser
import TaskHostClient
import TaskModel

/// The failed requests that a command handles.
struct FailedRequests: ParsableArguments {
  @Argument(help: "The requests' ids, their beginnings, or IDENTIFIER/KEY.")
  var ids: [String] = []
  @Flag(help: "All requests that have failed.")
  var all = false
  @Option(help: ArgumentHelp("With --all: only requests of this identifier.", valueName: "identifier"))
  var identifier: String?
  @Option(help: ArgumentHelp("With --all: only requests with this tag.", valueName: "tag"))
  var tag: String?
  @OptionGroup var bulk: BulkOptions

  func validate() throws {
    guard !ids.isEmpty || all || bulk.filter != nil else { throw ValidationError("Name the requests: ids, or --all, or --filter.") }
    guard ids.isEmpty || !all else { throw ValidationError("Ids and --all exclude each other.") }
    guard bulk.filter == nil || (ids.isEmpty && !all) else { throw ValidationError("--filter excludes ids and --all.") }
    guard all || (identifier == nil && tag == nil) else { throw ValidationError("--identifier and --tag go with --all.") }
  }

  /// Asks the host to apply `action` to all matching requests, page by page.
  func pages<Page: PagedAnswer>(of page: Page.Type, _ action: String, _ host: HostOptions, _ body: (Page) -> Void) async throws {
    // The host handles each page in one commit, and does nothing else meanwhile.
    try await Listing.pages(
      of: page, "POST", "/v1/requests/\(action)", [("tag", tag), ("identifier", identifier)], atOnce: 2000, host, body)
  }

  /// Runs `body` for each id. A refusal is printed and does not stop the others.
  ///
  /// - Throws: The first refusal; `ExitCode` with its status if it has already been printed.
  static func each(_ ids: [String], _ body: (String) async throws -> Void) async throws {
    var first: CommandFailure?
    for id in ids {
      do {
        try await body(id)
      } catch let failure as CommandFailure where failure.status == .refused {
        if ids.count > 1 { Terminal.note(failure.description) }
        first = first ?? failure
      }
    }
    guard let first else { return }
    if ids.count > 1 { throw ExitCode(first.status.rawValue) }
    throw first
  }
}

struct TasksRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Make failed requests pending again, with all their attempts.",
    discussion: """
      Requests that failed because of this one wait for it again and run after it;
      the command names those that cannot. The host refuses a request whose own
      predecessor has failed: retry the predecessor.

      The command tries all ids; its exit code is that of the first refusal. With
      --all, it retries every request that has failed permanently, many in one
      commit. A request stays failed if another one now holds its unique key.

      With --filter, it retries every failed request that matches, a hundred in one
      commit, so that runs go on meanwhile. It asks first, unless --yes is given.

      EXAMPLES
        taskhost tasks retry --filter 'identifier:com.example.* since:2h' --dry-run
        taskhost tasks retry --filter 'outcome:crashed payload.account:x' --yes
        taskhost tasks retry --all --identifier com.example.report
        taskhost tasks retry --all --tag nightly
      """)

  @OptionGroup var requests: FailedRequests
  @OptionGroup var host: HostOptions

  func run() async throws {
    if let filter = requests.bulk.filter {
      return try await BulkSession(action: .retry, filter: filter, options: requests.bulk, host: host).run()
    }
    if requests.all { return try await retryAll() }
    let client = try host.client()
    try await FailedRequests.each(requests.ids) { text in
      let id = try await ShortID.request(text, client)
      let answer = try await client.post("/v1/requests/\(ControlClient.escape(id))/retry")
      guard !host.json else { return Terminal.print(answer.bytes) }
      let request: RequestAnswer = try answer.read()
      Terminal.print("\(id) \(request.state)")
      // Says which dependants are retried with it, and which are not.
      if let message = request.lastMessage, message.hasPrefix("retried: ") {
        Terminal.note(message.escapingControlCharacters)
      }
    }
  }

  private func retryAll() async throws {
    var (hasFailed, hasRefused) = (false, false)
    try await requests.pages(of: RetriedAnswer.self, "retry", host) { page in
      if !host.json { for id in page.retried { Terminal.print("\(id) pending") } }
      for refusal in page.refused { Terminal.note("taskhost: \(refusal.id): \(refusal.message.escapingControlCharacters)") }
      hasFailed = hasFailed || !page.retried.isEmpty || !page.refused.isEmpty
      hasRefused = hasRefused || !page.refused.isEmpty
    }
    if !hasFailed { Terminal.note("no request has failed") }
    if hasRefused { throw ExitCode(ExitStatus.refused.rawValue) }
  }
}

struct TasksDiscardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discard",
    abstract: "Discard failed requests that will not be retried.",
    discussion: """
      The host keeps a request that failed permanently until it is retried or
      discarded. A discarded request is cancelled, and removed with the history. The
      command tries all ids; its exit code is that of the first refusal. With --all,
      it discards every failed request, many in one commit. With --filter, every
      failed request that matches; it asks first, unless --yes is given.

      EXAMPLES
        taskhost tasks discard --filter 'tag:nightly until:4w' --dry-run
        taskhost tasks discard --all --identifier com.example.report
        taskhost tasks discard --all --tag nightly
      """)

  @OptionGroup var requests: FailedRequests
  @OptionGroup var host: HostOptions

  func run() async throws {
    if let filter = requests.bulk.filter {
      return try await BulkSession(action: .discard, filter: filter, options: requests.bulk, host: host).run()
    }
    guard requests.all else {
      return try await FailedRequests.each(requests.ids) { text in
        let id = try await ShortID.request(text, host.client())
        try await host.ask("/v1/requests/\(ControlClient.escape(id))/discard", method: "POST") { _ in Terminal.print("\(id) discarded") }
      }
    }
    var count = 0
    try await requests.pages(of: DiscardedAnswer.self, "discard", host) { page in
      count += page.discarded.count
      if !host.json { for id in page.discarded { Terminal.print("\(id) discarded") } }
    }
    if count == 0 { Terminal.note("no request has failed") }
  }
}
