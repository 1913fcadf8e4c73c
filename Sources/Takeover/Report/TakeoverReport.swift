public import StrictText

/// Findings, counted and written down.
public struct TakeoverReport: Sendable {
  /// `cron` or `timers`.
  public let source: String
  /// In the order of the files.
  public let findings: [LineFinding]
  /// What differs for every line.
  public let differences: [String]

  /// Creates a report.
  public init(source: String, findings: [LineFinding], differences: [String]) {
    self.source = source
    self.findings = findings
    self.differences = differences
  }

  /// Whether nothing is left behind: no finding is refused.
  public var isComplete: Bool { !findings.contains { $0.kind == "refused" } }

  /// The commands, in the order of the files.
  public var commands: [CarriedCommand] { findings.compactMap(\.command) }

  /// The text of the configuration; nil without a command.
  public var configuration: String? { commands.isEmpty ? nil : ConfigurationText.whole(of: findings, source: source) }

  /// How many findings there are of each kind.
  public var counts: [(kind: String, count: Int)] {
    LineFinding.kinds.map { kind in (kind, findings.count { $0.kind == kind }) }
  }

  /// The report as one line of JSON.
  ///
  /// - Parameter more: Writes members beside those of the report.
  public func json(_ more: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    JSONWriter.object(reservingCapacity: 65_536) { writer in
      writer.member("source", source)
      writer.member("complete", isComplete)
      writer.object("counts") { writer in
        for (kind, count) in counts { writer.member(kind, count) }
      }
      writer.array("lines", findings) { writer, finding in
        writer.member("file", finding.file)
        writer.member("line", finding.line)
        writer.member("text", finding.text)
        writer.member("result", finding.kind)
        switch finding.result {
        case .nothing(let what), .setting(let what), .covered(let what), .refused(let what): writer.member("why", what)
        case .command(let command):
          writer.member("identifier", command.identifier)
          writer.member("schedule", command.schedule)
          writer.member("configuration", ConfigurationText.table(of: command))
        }
        writer.member("notes", finding.notes)
      }
      writer.member("differences", differences)
      writer.member("configuration", configuration)
      more(&writer)
    }
  }
}

extension LineFinding {
  /// The kinds of results, as JSON names them.
  public static let kinds = ["command", "covered", "setting", "nothing", "refused"]

  /// The kind of the result, as JSON names it.
  public var kind: String {
    switch result {
    case .nothing: "nothing"
    case .setting: "setting"
    case .command: "command"
    case .covered: "covered"
    case .refused: "refused"
    }
  }
}
