import Takeover
import TaskModel

/// A report of a takeover for people: what each line is and what it becomes.
struct TakeoverText {
  let report: TakeoverReport
  /// Whether comments, blank lines and the differences of every line are shown too.
  let isWhole: Bool

  func lines() -> [String] {
    var lines: [String] = []
    var file: String?
    var skipped = 0
    func tellSkipped() {
      if skipped > 0 { lines.append("  \(skipped) \(skipped == 1 ? "line" : "lines") without an effect") }
      skipped = 0
    }
    for finding in report.findings {
      if finding.file != file, finding.line > 0 || file.map({ Self.folder(of: $0) }) != Self.folder(of: finding.file) {
        tellSkipped()
        if !lines.isEmpty { lines.append("") }
        lines.append(finding.line > 0 ? finding.file.escapingControlCharacters : Self.folder(of: finding.file).escapingControlCharacters)
      }
      file = finding.file
      if case .nothing(let what) = finding.result, Self.isPlain(what), !isWhole {
        skipped += 1
        continue
      }
      tellSkipped()
      lines += shown(finding)
    }
    tellSkipped()
    return lines + end()
  }

  /// Whether it says no more than the line itself.
  private static func isPlain(_ what: String) -> Bool {
    ["comment", "blank line", "it has no effect on a command"].contains(what) || what.hasPrefix("the section ")
  }

  private func shown(_ finding: LineFinding) -> [String] {
    let name = finding.line > 0 ? "\(finding.line)" : String(finding.file.split(separator: "/").last ?? "")
    let text = finding.text.isEmpty ? "" : "  \(finding.text.escapingControlCharacters)"
    let head = "  \(name.escapingControlCharacters)\(text)"
    let result: [String]
    switch finding.result {
    case .nothing(let what): result = ["    - \(what.escapingControlCharacters)"]
    case .setting(let what): result = ["    = \(what.escapingControlCharacters)"]
    case .covered(let what): result = ["    = \(what.escapingControlCharacters)"]
    case .refused(let why): result = ["    ! not carried over: \(why.escapingControlCharacters)"]
    case .command(let command):
      result = ConfigurationText.table(of: command).split(separator: "\n", omittingEmptySubsequences: false).map { "    | \($0)" }
    }
    return [head] + result + finding.notes.map { "    * \($0.escapingControlCharacters)" }
  }

  private func end() -> [String] {
    guard !report.findings.isEmpty else { return ["nothing found: no crontab, no timer"] }
    var lines = [""]
    if !report.commands.isEmpty {
      lines.append("different for every line:")
      lines += report.differences.map { "  * \($0)" }
      lines.append("")
    }
    let words = [
      "command": ("becomes a command", "become commands"), "covered": ("is done by others", "are done by others"),
      "setting": ("sets something", "set something"), "nothing": ("has no effect", "have no effect"),
    ]
    var counts = report.counts.compactMap { kind, count in
      words[kind].flatMap { count > 0 ? "\(count) \(count == 1 ? $0.0 : $0.1)" : nil }
    }
    let refused = report.counts.first { $0.kind == "refused" }?.count ?? 0
    counts.append(refused == 0 ? "nothing is left behind" : "\(refused) not carried over (marked !)")
    lines.append("\(report.findings.count) lines: \(counts.joined(separator: ", "))")
    return lines
  }

  private static func folder(of path: String) -> String { path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } }
}
