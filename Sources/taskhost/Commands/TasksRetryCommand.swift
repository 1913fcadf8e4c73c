import ArgumentParser
import HostControl

/// `taskhost tasks retry`
struct TasksRetryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Make failed requests pending again, with all their attempts.",
    discussion: """
      All ids are tried; the exit code is that of the first that was refused. With
      --all, all requests that have failed for good, the dead letters, are retried.

      EXAMPLES
        taskhost tasks retry 01976c1e-0000-7000-8000-000000000000
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

  /// As many as the host lists at once.
  private static let most = 10_000

  func validate() throws {
    guard !ids.isEmpty || all else { throw ValidationError("Name the requests to retry: ids, or --all.") }
    guard ids.isEmpty || !all else { throw ValidationError("Ids and --all exclude each other.") }
    guard all || (identifier == nil && tag == nil) else { throw ValidationError("--identifier and --tag go with --all.") }
  }

  func run() async throws {
    let client = socketOptions.client()
    let ids = all ? try await failed(client) : self.ids
    if all, ids.isEmpty { return Terminal.note("no request has failed") }
    try await ManyRequests.each(ids) { id in
      let answer = try await client.post("/v1/requests/\(ControlClient.escape(id))/retry")
      if json { Terminal.print(answer.bytes) } else { Terminal.print("\(id) \(answer.node["state"]?.string ?? "")") }
    }
    if all, ids.count == Self.most { Terminal.note("\(ids.count) requests retried, the most at once: there may be more, try again") }
  }

  /// The dead letters that match.
  private func failed(_ client: ControlClient) async throws -> [String] {
    let matching = ManyRequests.query(tag: tag, identifier: identifier)
    let answer = try await client.get("/v1/requests?state=failed&limit=\(Self.most)\(matching.isEmpty ? "" : "&")\(matching)")
    return (answer.node["requests"]?.array ?? []).compactMap { $0["id"]?.string }
  }
}
