import ArgumentParser
import StrictText
import TaskHostClient

struct TransfersPauseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Hold transfers back until they are resumed.",
    discussion: """
      A transfer that is running stops in the middle of its file; what has arrived is
      kept, and no attempt is spent. It stays paused when the host or the machine is
      restarted. `tasks why` says who paused it, and why. The command tries all ids;
      its exit code is that of the first refusal.

      EXAMPLES
        taskhost transfers pause "$(taskhost transfers submit https://example.org/a --to a --after 1h)"
        taskhost transfers pause "$(taskhost transfers submit https://example.org/b --to b --after 1h)" --why 'the line is slow today'
      """)

  @Argument(help: "The transfers' ids, their beginnings, or IDENTIFIER/KEY.")
  var ids: [String]
  @Option(name: .customLong("why"), help: ArgumentHelp("The reason that tasks why shows.", valueName: "text"))
  var reason: String?
  @OptionGroup var host: HostOptions

  func run() async throws {
    let body = JSONWriter.object { $0.member("why", reason) }
    try await Self.send(ids, "pause", body, host) { $0.state == "running" ? "asked to stop" : "paused" }
  }

  /// Does something with the transfers one by one, tries all, and prints what became of each.
  static func send(
    _ ids: [String], _ action: String, _ body: [UInt8], _ host: HostOptions, _ word: (RequestAnswer) -> String
  ) async throws {
    let client = try host.client(OptionNames(["why": "why"]))
    try await FailedRequests.each(ids) { text in
      let id = try await ShortID.request(text, client)
      let answer = try await client.post(TransfersCommand.path(id, action), body)
      let request: RequestAnswer = try answer.read()
      Terminal.print(host.json ? answer.bytes : Array("\(id) \(word(request))".utf8))
    }
  }
}

struct TransfersResumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Let paused transfers go on.",
    discussion: """
      A download goes on where it stopped, if the server still has the same content.
      The command tries all ids; its exit code is that of the first refusal.

      EXAMPLES
        taskhost transfers resume "$(taskhost transfers submit https://example.org/a --to a --after 1h)"
      """)

  @Argument(help: "The transfers' ids, their beginnings, or IDENTIFIER/KEY.")
  var ids: [String]
  @OptionGroup var host: HostOptions

  func run() async throws { try await TransfersPauseCommand.send(ids, "resume", [], host) { $0.state } }
}

struct TransfersCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel transfers, and remove what has arrived of them.",
    discussion: """
      EXAMPLES
        taskhost transfers cancel "$(taskhost transfers submit https://example.org/a --to a --after 1h)"
      """)

  @Argument(help: "The transfers' ids, their beginnings, or IDENTIFIER/KEY.")
  var ids: [String]
  @OptionGroup var host: HostOptions

  func run() async throws { try await TasksCancelCommand.cancel(ids, at: TransfersCommand.path(), host) }
}
