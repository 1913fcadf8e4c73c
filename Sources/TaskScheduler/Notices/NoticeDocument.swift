import CalendarTime
import StrictText
import TaskModel

/// The payload of a notification: a JSON object that tells of one incident or of several.
///
/// Its size is bounded, however many incidents there are: the first ones are told one by one, the others are counted.
struct NoticeDocument {
  /// The number of incidents that are told one by one. With the limits of messages, keys and identifiers, the document fits a payload.
  static let most = 20
  /// The number of incidents in the text for people.
  private static let lines = 10

  private struct Entry {
    let subject: String
    let clause: String
    let json: [UInt8]
  }

  private var entries: [Entry] = []
  private var counts: [Incident.Kind: Int] = [:]

  /// Creates a document without incidents.
  init() {}

  /// Reads a document back; nil if it is none.
  init?(_ payload: [UInt8]) {
    guard let root = try? JSONReader.read(payload), let notices = root["notices"]?.array else { return nil }
    for node in notices {
      guard let subject = node["subject"]?.string, let clause = node["text"]?.string else { return nil }
      entries.append(Entry(subject: subject, clause: clause, json: Array(payload[node.range])))
    }
    for kind in Incident.Kind.allCases {
      if let count = root["counts"]?[kind.rawValue]?.integer { counts[kind] = Int(clamping: count) }
    }
  }

  /// Adds an incident.
  mutating func add(_ incident: Incident) {
    counts[incident.kind] = (counts[incident.kind] ?? 0).adding(saturating: 1)
    guard entries.count < Self.most else { return }
    let json = JSONWriter.object { Self.write(incident, to: &$0) }
    entries.append(Entry(subject: incident.subject, clause: incident.clause, json: json))
  }

  private var count: Int { counts.values.reduce(0) { $0.adding(saturating: $1) } }

  private static func write(_ incident: Incident, to writer: inout JSONWriter) {
    writer.member("event", incident.kind.rawValue)
    writer.member("subject", incident.subject)
    writer.member("identifier", incident.identifier.rawValue)
    writer.member("key", incident.shortKey)
    writer.member("time", RFC3339.format(incident.time))
    writer.member("text", incident.clause)
    writer.member("request", incident.request?.description)
    writer.member("run", incident.run?.description)
    writer.member("outcome", incident.outcome?.rawValue)
    writer.member("failures", incident.failures)
    writer.member("message", incident.shortMessage)
  }

  /// The JSON: the members of the only incident, or those of all together, and `notices` with each.
  func bytes(rule: NoticeRule, host: String) -> [UInt8] {
    let kinds = Incident.Kind.allCases.filter { counts[$0] != nil }
    let summary = kinds.map { "\(counts[$0] ?? 0) \($0.rawValue)" }.joined(separator: ", ")
    return JSONWriter.object(reservingCapacity: 1024 + entries.count * 512) { writer in
      writer.member("rule", rule.name)
      writer.member("host", host)
      writer.member("count", count)
      if count == 1, let only = entries.first {
        writer.member("title", only.subject)
        // Without the braces: its members are members of the document.
        if let node = try? JSONReader.read(only.json), case .object(let members) = node.value {
          for member in members where member.name != "subject" {
            writer.name(member.name)
            writer.raw(only.json[member.node.range])
          }
        }
      } else {
        writer.member("title", summary)
        writer.member("event", kinds.count == 1 ? kinds[0].rawValue : "several")
        writer.member("text", text)
      }
      writer.object("counts") { writer in
        for kind in kinds { writer.member(kind.rawValue, counts[kind]) }
      }
      writer.member("omitted", count - entries.count)
      writer.name("notices")
      writer.beginArray()
      for entry in entries { writer.raw(entry.json) }
      writer.endArray()
    }
  }

  private var text: String {
    var lines = entries.prefix(Self.lines).map { "\($0.subject) \($0.clause)" }
    if count > lines.count { lines.append("and \(count - lines.count) more") }
    return lines.joined(separator: "\n")
  }
}
