import ArgumentParser
import StrictText
import TaskHost
import TaskModel

/// Findings of a check, for people and for programs.
enum FindingText {
  /// The lines of a finding: what was seen, then why it matters and what to do.
  static func lines(_ finding: Finding, usesColours: Bool) -> [String] {
    let topic = finding.topic.rawValue.replacing("_", with: " ")
    let place = finding.place.map { $0.line > 0 ? "\($0.file):\($0.line):\($0.column): " : "\($0.file): " }
    let subject = finding.subject.flatMap { finding.seen.contains($0) ? nil : "\($0): " } ?? ""
    let head = "\(place ?? "\(topic): ")\(subject)\(finding.seen)".escapingControlCharacters
    let remedy = finding.remedy.map { "-> \($0.hasSuffix(".") ? String($0.dropLast()) : $0)" }
    let more = [finding.why, remedy].compactMap(\.self).map { "    \($0)".escapingControlCharacters }
    return ["\(mark(finding.verdict, usesColours)) \(head)"] + more
  }

  /// Prints findings, the worst first.
  static func print(_ findings: [Finding]) {
    for verdict in [Finding.Verdict.failure, .warning, .ok] {
      for line in findings.filter({ $0.verdict == verdict }).flatMap({ lines($0, usesColours: Terminal.usesColours) }) {
        Terminal.print(line)
      }
    }
  }

  /// Prints a doctor's findings. Throws the exit code 1 if something will fail.
  static func report(_ findings: [Finding], quiet: Bool, json: Bool) throws {
    let isHealthy = !findings.contains { $0.verdict == .failure }
    let shown = findings.filter { !quiet || $0.verdict != .ok }
    if json {
      Terminal.printObject { writer in
        writer.member("ok", isHealthy)
        writer.array("findings", shown) { $0.finding($1) }
      }
    } else {
      print(shown)
      Terminal.print(summary(of: findings))
    }
    if !isHealthy { throw ExitCode(ExitStatus.failed.rawValue) }
  }

  /// `2 failures, 1 warning`, or `nothing is wrong`.
  static func summary(of findings: [Finding]) -> String {
    func count(_ verdict: Finding.Verdict, _ word: String) -> String? {
      let count = findings.count { $0.verdict == verdict }
      return count == 0 ? nil : "\(count) \(word)\(count == 1 ? "" : "s")"
    }
    let parts = [count(.failure, "failure"), count(.warning, "warning")].compactMap(\.self)
    return parts.isEmpty ? "nothing is wrong" : parts.joined(separator: ", ")
  }

  private static func mark(_ verdict: Finding.Verdict, _ usesColours: Bool) -> String {
    let (mark, colour): (String, Colour) =
      switch verdict {
      case .ok: ("✓", .green)
      case .warning: ("!", .yellow)
      case .failure: ("✗", .red)
      }
    return usesColours ? colour.paint(mark) : mark
  }
}

extension JSONWriter {
  /// The members of a finding.
  mutating func finding(_ finding: Finding) {
    member("topic", finding.topic.rawValue)
    member("verdict", finding.verdict.rawValue)
    member("subject", finding.subject)
    member("message", finding.seen)
    member("why", finding.why)
    member("remedy", finding.remedy)
    member("prevents_launch", finding.preventsLaunch)
    guard let place = finding.place else { return }
    member("file", place.file)
    guard place.line > 0 else { return }
    member("line", place.line)
    member("column", place.column)
    member("key", place.key)
  }
}
