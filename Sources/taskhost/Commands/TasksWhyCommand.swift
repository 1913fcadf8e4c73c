import ArgumentParser
import CalendarTime
import TaskHostClient
import TaskModel

struct TasksWhyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explain why a request is not running now.",
    discussion: """
      Shows each gate that holds the request: since when, until when if known, what
      holds it, and how to change that. Then shows the request's place in line, and
      when it starts if nothing changes.

      EXAMPLES
        taskhost tasks why "$(taskhost submit com.example.report --after 1h)"
        taskhost tasks why "$(taskhost submit com.example.report --after 1h)" --json
      """)

  @Argument(help: "The request's id, its beginning, or IDENTIFIER/KEY.")
  var id: String
  @OptionGroup var host: HostOptions

  func run() async throws {
    let id = try await ShortID.request(id, host.client())
    try await host.ask("/v1/requests/\(ControlClient.escape(id))/why") { answer in
      for line in Self.lines(try answer.read(), now: MomentText.now) { Terminal.print(line) }
    }
  }

  /// The explanation for people.
  static func lines(_ answer: ExplanationAnswer, now: Int64) -> [String] {
    let gates = answer.details
    let expected = (answer.expectations ?? []).map { "expected: \($0.escapingControlCharacters)" }
    guard !gates.isEmpty else { return ["nothing holds it"] + expected }
    var lines = expected + gates.flatMap { Self.lines(gate: $0, now: now) }
    // A running or ended request has no future start.
    if gates.contains(where: { ["running", "ended"].contains($0.gate) }) { return lines }
    if let place = answer.place { lines.append("place in line: \(place)") }
    let assumptions = (answer.assumptions ?? []).map(\.escapingControlCharacters)
    if let start = time(answer.earliestStartUnixMs, now: now) {
      lines.append("earliest possible start: \(start)")
      lines += assumptions.map { "  if \($0)" }
    } else {
      lines.append("earliest possible start: \(unknownStart(gates, now: now))" + assumptions.map { ": \($0)" }.joined())
    }
    let remedies = gates.map(\.remedy)
    for wish in answer.wouldRunIf where !remedies.contains(wish) {
      lines.append("it would run if \(wish.escapingControlCharacters)")
    }
    return lines
  }

  private static func lines(gate: ExplanationAnswer.Gate, now: Int64) -> [String] {
    let facts = [
      ("since", time(gate.sinceUnixMs, now: now)), ("until", time(gate.untilUnixMs, now: now)),
      ("held by", gate.heldBy?.joined(separator: ", ")), ("remedy", gate.remedy),
    ]
    let sentence = "\(gate.gate.replacing("_", with: " ")): \(gate.sentence)".escapingControlCharacters
    return [sentence]
      + facts.compactMap { name, text in
        text.map { "  \(name)\(String(repeating: " ", count: 9 - name.count))\($0.escapingControlCharacters)" }
      }
  }

  /// Describes an unknown start. A gate may still say when it opens at the earliest.
  private static func unknownStart(_ gates: [ExplanationAnswer.Gate], now: Int64) -> String {
    // For the preferred hosts, that gate is open.
    let last = time(gates.filter { $0.gate != RequestField.prefer.rawValue }.compactMap(\.untilUnixMs).max(), now: now)
    return "unknown" + (last.map { ", but not before \($0)" } ?? "")
  }

  private static func time(_ moment: Int64?, now: Int64) -> String? {
    moment.map { "\(MomentFormat.local($0)) (\(MomentFormat.relative($0, now: now)))" }
  }
}
