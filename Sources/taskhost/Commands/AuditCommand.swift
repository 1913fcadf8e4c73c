import ArgumentParser
import CalendarTime
import StrictText
import TaskHostClient

struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "List who changed what, when and from where, oldest first.",
    discussion: """
      Every change by the control socket, the dashboard and TCP is on record: the
      user and process, or the token. With --json, each line is one entry. The host
      keeps the newest 128 MB.

      EXAMPLES
        taskhost audit --since 1d
        taskhost audit --json > audit.jsonl
      """)

  /// Entries of one answer.
  private static let atOnce = 1000

  @Option(help: ArgumentHelp("Only changes at this moment or later: 2h (ago), 2026-11-21T08:00:00Z.", valueName: "time"))
  var since: String?
  @OptionGroup var host: HostOptions

  func run() async throws {
    let since = try since.map { try TimeArgument.past($0, "--since") }
    let client = try host.client()
    var (next, isFirst) = (String?.none, true)
    repeat {
      let query = [("since", since), ("limit", "\(Self.atOnce)"), ("after", next)]
      let page = try await client.get(ControlClient.path("/v1/audit", query)).read(AuditAnswer.self)
      if host.json {
        for entry in page.entries { Terminal.print(entry.json.bytes) }
      } else {
        Self.table(page.entries.map(\.value)).print(empty: isFirst ? "nothing was changed" : "")
      }
      (next, isFirst) = (page.next, false)
      if page.entries.isEmpty { break }
    } while next != nil
  }

  static func table(_ entries: [AuditAnswer.Entry]) -> TextTable {
    var table = TextTable("TIME", "BY", "FROM", "OPERATION", "TARGET", "CHANGED")
    for entry in entries {
      table.add(
        MomentFormat.local(entry.timeUnixMs), entry.by, entry.from + (entry.processId.map { " \($0)" } ?? ""), entry.operation,
        entry.target ?? "",
        entry.ids.map { $0.count == 1 ? $0[0] : "\(entry.count ?? Int64($0.count))" } ?? entry.count.map { "\($0)" } ?? "")
    }
    return table
  }
}

/// A page of the audit.
struct AuditAnswer: Decodable {
  struct Entry: Decodable {
    let timeUnixMs: Int64
    let operation: String
    let target: String?
    let by: String
    let from: String
    let processId: Int64?
    let ids: [String]?
    let count: Int64?
  }

  let entries: [Quoted<Entry>]
  let next: String?
}
