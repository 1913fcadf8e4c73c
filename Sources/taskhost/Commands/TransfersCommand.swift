import ArgumentParser
import StrictText
import TaskModel

struct TransfersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers",
    abstract: "Download and upload files in the background.",
    discussion: """
      The plugin org.taskhost.transfers carries them out: over restarts of the host and
      the machine, with retries, and from where they stopped. A transfer is a request:
      what `tasks` and `runs` do works for it too.

      EXAMPLES
        taskhost transfers
        taskhost transfers submit https://example.org/image.iso --to /srv/images/image.iso
      """,
    subcommands: [
      TransfersListCommand.self, TransfersSubmitCommand.self, TransfersShowCommand.self, TransfersPauseCommand.self,
      TransfersResumeCommand.self, TransfersCancelCommand.self,
    ],
    defaultSubcommand: TransfersListCommand.self)

  /// The route of all transfers, or of one and what is done with it.
  static func path(_ id: String? = nil, _ action: String? = nil) -> String {
    "/v1/transfers" + (id.map { "/\(ControlClient.escape($0))" } ?? "") + (action.map { "/\($0)" } ?? "")
  }
}

struct TransfersSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Submit a download, an upload or a batch of them.",
    discussion: """
      A download appears under its name when it is whole, never before. The plugin needs
      network = "connect", and may write or read only what its entitlements name.

      EXAMPLES
        taskhost transfers submit https://example.org/image.iso --to image.iso
        taskhost transfers submit --from report.pdf https://example.org/inbox/report.pdf
        taskhost transfers submit --list transfers.json --requires unmetered
      """)

  @Argument(help: ArgumentHelp("The address, https:// or http://.", valueName: "url"))
  var url: String?
  @Option(help: ArgumentHelp("Download to this file.", valueName: "file"))
  var to: String?
  @Option(help: ArgumentHelp("Upload this file.", valueName: "file"))
  var from: String?
  @Option(help: ArgumentHelp("PUT (default), POST or PATCH, for an upload.", valueName: "method"))
  var method: String?
  @Option(help: ArgumentHelp("What the content of a download must have.", valueName: "digest"))
  var sha256: String?
  @Option(help: ArgumentHelp("A JSON file with a batch: {\"items\": [{\"url\": …, \"to\": …}, …]}.", valueName: "file"))
  var list: String?
  @Option(name: .customLong("header"), help: ArgumentHelp("A header, as NAME: VALUE; may be repeated.", valueName: "header"))
  var headers: [String] = []
  @Option(help: ArgumentHelp("A file with an access token, read at each attempt.", valueName: "file"))
  var bearerTokenFile: String?
  @Option(help: ArgumentHelp("The identifier that gets the report when all have ended.", valueName: "identifier"))
  var notify: String?
  @OptionGroup(title: "When") var schedule: ScheduleOptions
  @OptionGroup(title: "Requirements") var needs: NeedOptions
  @Option(
    name: .field(.priority), parsing: .unconditional, help: ArgumentHelp("-10 to 10; a higher priority runs first.", valueName: "number"))
  var priority: Int?
  @Option(name: .field(.tags), help: ArgumentHelp("A tag for listing and cancelling; may be repeated.", valueName: "tag"))
  var tags: [String] = []
  @Flag(help: "Follow the transfer until it has ended.")
  var wait = false
  @OptionGroup var host: HostOptions

  func validate() throws {
    if list != nil {
      guard url == nil, to == nil, from == nil, method == nil, sha256 == nil else {
        throw ValidationError("--list has the transfers: name no address and no file beside it.")
      }
      return
    }
    guard url != nil else { throw ValidationError("Name the address, or a batch by --list.") }
    guard (to == nil) != (from == nil) else { throw ValidationError("Name one file: --to for a download, --from for an upload.") }
  }

  func run() async throws {
    let payload = try payload()
    let body = try JSONWriter.object { writer in
      writer.name(RequestField.payload.rawValue)
      writer.raw(payload)
      try schedule.write(into: &writer)
      try needs.write(into: &writer)
      writer.member(RequestField.priority, priority)
      if !tags.isEmpty { writer.member(RequestField.tags.rawValue, tags) }
    }
    try await Submitting.submit(body, to: TransfersCommand.path(), wait: wait, waitingFor: needs.sentence, host)
  }

  /// The plugin's payload. It checks the values; here, paths are made absolute.
  private func payload() throws -> [UInt8] {
    if let list {
      let bytes = try PayloadArgument.contents(of: list, "--list ")
      guard JSONReader.isValid(bytes) else { throw ValidationError("\(list) is not JSON.") }
      return bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    }
    return try JSONWriter.object { writer in
      writer.member("url", url)
      writer.member("to", try to.map { try PathArgument.absolute($0, "--to") })
      writer.member("from", try from.map { try PathArgument.absolute($0, "--from") })
      writer.member("method", method)
      writer.member("sha256", sha256)
      writer.member("bearer_token_file", try bearerTokenFile.map { try PathArgument.absolute($0, "--bearer-token-file") })
      writer.member("notify", notify)
      guard !headers.isEmpty else { return }
      writer.name("headers")
      try writer.object { writer in
        for header in headers {
          guard let colon = header.firstIndex(of: ":") else {
            throw ValidationError("--header \"\(header)\" has no colon: write NAME: VALUE.")
          }
          let value = header[header.index(after: colon)...].drop { $0 == " " }
          writer.member(String(header[..<colon]), String(value))
        }
      }
    }
  }
}
