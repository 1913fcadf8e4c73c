import StrictText
import PluginCheck
import TaskModel

struct PluginsCheckText {
  /// The path as the user gave it.
  let file: String
  /// Whether marks are coloured.
  let usesColours: Bool

  private static let nameWidth = CheckCase.allCases.map(\.rawValue.count).max() ?? 0

  static func printList(json: Bool) {
    guard json else {
      for tried in CheckCase.allCases { Terminal.print("\(padded(tried.rawValue))  \(tried.summary)") }
      return
    }
    var writer = JSONWriter()
    writer.beginArray()
    for tried in CheckCase.allCases {
      writer.object {
        $0.member("case", tried.rawValue)
        $0.member("summary", tried.summary)
      }
    }
    writer.endArray()
    Terminal.print(writer.bytes)
  }

  private static func padded(_ name: String) -> String { name + String(repeating: " ", count: max(0, nameWidth - name.count)) }

  func printHead(of options: CheckOptions) { Terminal.print("\(file), seed \(options.seed)") }

  /// Prints a case on one line, with its findings below.
  func print(_ result: CheckResult) {
    let mark =
      switch result.verdict {
      case .passed: painted("✓", .green)
      case .failed: painted("✗", .red)
      case .skipped: painted("–", .grey)
      }
    let whose = result.identifier.map { "\($0): " } ?? ""
    let seen = result.verdict == .failed && result.seen.isEmpty ? result.tried.summary : result.seen
    Terminal.print("\(mark) \(Self.padded(result.tried.rawValue))  \(whose)\(seen.escapingControlCharacters)")
    for finding in result.findings {
      let word =
        switch finding.severity {
        case .breach: painted("broken", .red)
        case .warning: painted("warning", .yellow)
        case .remark: "remark"
        }
      Terminal.print("    \(word): \(finding.seen.escapingControlCharacters)")
      Terminal.print("      \(finding.rule)")
      for line in finding.detail.split(separator: "\n") { Terminal.print("      \(String(line).escapingControlCharacters)") }
    }
  }

  func printSummary(of report: CheckReport) {
    let failed = report.count(.failed)
    var parts = ["\(report.count(.passed)) passed", "\(failed) failed", "\(report.count(.skipped)) not tried"]
    for (severity, word) in [(CheckFinding.Severity.warning, "warning"), (.remark, "remark")] {
      let count = report.findings(severity)
      if count > 0 { parts.append("\(count) \(word)\(count == 1 ? "" : "s")") }
    }
    let time = DurationFormat.words(milliseconds: report.duration.wholeMilliseconds)
    let verdict = failed == 0 ? painted("The check has passed", .green) : painted("The check has failed", .red)
    Terminal.print("\(verdict): \(parts.joined(separator: ", ")) in \(time)")
    guard let first = report.results.first(where: { $0.verdict == .failed && $0.tried.callsPlugin }) else { return }
    Terminal.print("Repeat a case: taskhost plugins check \(file) --case \(first.tried.rawValue) --seed \(report.seed)")
  }

  private func painted(_ text: String, _ colour: Colour) -> String { usesColours ? colour.paint(text) : text }

  static func printJSON(of report: CheckReport) {
    Terminal.printObject { writer in
      writer.member("file", report.file)
      writer.member("passed", report.hasPassed)
      writer.member("seed", report.seed)
      writer.member("duration_ms", report.duration.wholeMilliseconds)
      writer.array("handlers", report.registrations) { writer, registration in
        writer.member("identifier", registration.identifier.rawValue)
        writer.member("kind", registration.kind.rawValue)
        writer.member("budget_ms", registration.budget?.wholeMilliseconds)
        writer.member("max_concurrent_runs", registration.maxConcurrentRuns)
        writer.member("display_name", registration.displayName)
        writer.member("version", registration.version)
      }
      writer.array("cases", report.results) { write($1, to: &$0) }
    }
  }

  private static func write(_ result: CheckResult, to writer: inout JSONWriter) {
    writer.member("case", result.tried.rawValue)
    writer.member("identifier", result.identifier?.rawValue)
    writer.member("verdict", result.verdict.rawValue)
    writer.member("seen", result.seen)
    writer.member("duration_ms", result.duration.wholeMilliseconds)
    writer.array("findings", result.findings) { writer, finding in
      writer.member("severity", finding.severity.rawValue)
      writer.member("seen", finding.seen)
      writer.member("rule", finding.rule)
      writer.member("detail", finding.detail.isEmpty ? nil : finding.detail)
    }
  }
}
