import RecordJSON
import StrictText
import TaskModel

/// What a person or a program is told.
struct Notice: Sendable {
  let event: NotifyRule.Event
  /// Nil if it is about the host as a whole.
  let identifier: TaskIdentifier?
  /// The handler's name for people; nil if it has none.
  var name: String?
  var run: RunID?
  var request: RequestID?
  var progress: RunProgress?
  /// How the run ended; nil while it is live.
  var outcome: RunOutcome?
  /// What the handler or the host said of it.
  var message: String?
  /// The request's unique key; nil for none.
  var key: String?
  /// What happened, as a clause that follows the title, if it is more than the message.
  var clause: String?

  /// The name of the host and of the table that tells it; nil for what needs neither.
  var sender: (host: String, rule: String)?
  /// The same for all attempts; nil if there is one.
  var id: String?

  /// What a later notice replaces an earlier one of.
  var subject: String { run?.description ?? (key.map { "\(title)/\($0)" } ?? identifier?.rawValue ?? event.rawValue) }

  /// Whether no other notice of the subject follows.
  var isFinal: Bool { event != .continued || outcome != nil }

  /// The shortest time between two notices of the subject.
  var interval: Duration { event == .store ? .seconds(30) : .seconds(1) }

  /// A short line: the handler's name, or its identifier.
  var title: String { name ?? identifier?.rawValue ?? "the \(event.rawValue)" }

  /// A line for people. Control characters are escaped.
  var text: String {
    if let clause { return clause }
    let what: String
    switch event {
    case .failed, .failing, .recovered, .overdue, .quarantined, .store: what = event.rawValue
    case .continued: what = outcome?.rawValue ?? progress.map(Self.amount) ?? "running"
    }
    let said = outcome == nil && event == .continued ? progress?.message : message
    return (what + (said.map { ": \($0)" } ?? "")).escapingControlCharacters
  }

  /// 0 to 100; nil without a total.
  var percent: Int? {
    guard let progress, progress.total > 0 else { return nil }
    return Int(min(100, Double(progress.completed) / Double(progress.total) * 100))
  }

  private static func amount(_ progress: RunProgress) -> String {
    let isBytes = progress.unit == "bytes"
    func number(_ count: UInt64) -> String { isBytes ? ByteCountFormat.words(Int64(clamping: count)) : "\(count)" }
    let unit = isBytes ? "" : progress.unit.map { " \($0)" } ?? ""
    return number(progress.completed) + (progress.total > 0 ? " of \(number(progress.total))" : "") + unit
  }

  /// The variables of a command, without those that say nothing.
  var environment: [String] {
    let values: [(String, String?)] = [
      ("EVENT", event.rawValue), ("IDENTIFIER", identifier?.rawValue), ("TITLE", title), ("TEXT", text), ("RUN", run?.description),
      ("REQUEST", request?.description), ("COMPLETED", progress.map { "\($0.completed)" }), ("TOTAL", progress.map { "\($0.total)" }),
      ("PERCENT", percent.map { "\($0)" }), ("OUTCOME", outcome?.rawValue), ("HOST", sender?.host), ("RULE", sender?.rule),
      ("REQUEST_ID", id),
    ]
    // A NUL would end the text; nothing here has one but a plugin's own words.
    return values.compactMap { name, value in value.map { "TASKHOST_\(name)=" + $0.filter { $0 != "\0" } } }
  }

  /// A JSON object on one line.
  var json: [UInt8] {
    JSONWriter.object { writer in
      writer.member("rule", sender?.rule)
      writer.member("host", sender?.host)
      if sender != nil { writer.member("count", 1) }
      writer.member("event", event.rawValue)
      writer.member("identifier", identifier?.rawValue)
      writer.member("key", key)
      writer.member("title", title)
      writer.member("text", text)
      writer.member("run", run?.description)
      writer.member("request", request?.description)
      if let progress { writer.progress(progress) }
      writer.member("percent", percent)
      writer.member("outcome", outcome?.rawValue)
      writer.member("message", message)
    } + [0x0A]
  }
}

extension Notice: Equatable {
  static func == (left: Notice, right: Notice) -> Bool { left.json == right.json && left.id == right.id && left.name == right.name }
}
