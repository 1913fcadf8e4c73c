import ArgumentParser
import StrictText
import TaskModel

struct TransfersSubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Submit a download, an upload or a batch of them.",
    discussion: """
      A download appears under its name when it is whole, never before. The plugin
      needs network = "connect", and may write or read only what its entitlements
      name. What no transfer can come of is refused at once, with the place in a
      --list that is wrong.

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
      guard url == nil, to == nil, from == nil, method == nil, sha256 == nil, headers.isEmpty, bearerTokenFile == nil, notify == nil else {
        throw ValidationError("--list has the whole batch: name nothing of it beside the file. Its members are url, to, headers and so on.")
      }
      return
    }
    guard url != nil else { throw ValidationError("Name the address, or a batch by --list.") }
    guard (to == nil) != (from == nil) else { throw ValidationError("Name one file: --to for a download, --from for an upload.") }
  }

  mutating func run() async throws {
    let payload = try payload()
    let waited = needs.sentence
    try await needs.findPredecessors(host.client())
    let needs = needs
    let body = try JSONWriter.object { writer in
      writer.name(RequestField.payload.rawValue)
      writer.raw(payload)
      try schedule.write(into: &writer)
      try needs.write(into: &writer)
      writer.member(RequestField.priority, priority)
      if !tags.isEmpty { writer.member(RequestField.tags.rawValue, tags) }
    }
    try await Submitting.submit(body, to: TransfersCommand.path(), wait: wait, waitingFor: waited, host)
  }

  /// The plugin's payload, checked; paths are made absolute.
  private func payload() throws -> [UInt8] {
    if let list {
      let bytes = try PayloadArgument.contents(of: list, "--list ")
      try TransferArguments.check(list: bytes, named: list)
      return bytes.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
    }
    let payload = try JSONWriter.object { writer in
      writer.member("url", url)
      writer.member("to", try to.map { try TransferArguments.file($0, "--to") })
      writer.member("from", try from.map { try TransferArguments.file($0, "--from") })
      writer.member("method", method)
      writer.member("sha256", sha256)
      writer.member("bearer_token_file", try bearerTokenFile.map { try TransferArguments.file($0, "--bearer-token-file") })
      writer.member("notify", notify)
      let headers = try TransferArguments.headers(headers)
      guard !headers.isEmpty else { return }
      writer.name("headers")
      writer.object { writer in for header in headers { writer.member(header.name, header.value) } }
    }
    try TransferArguments.check(payload)
    return payload
  }
}
