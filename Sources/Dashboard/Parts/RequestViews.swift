import StrictText
import TaskModel

extension View {
  /// A table of requests; nil if there are none.
  ///
  /// - Parameters:
  ///   - namesIDs: Whether there is room for their ids.
  ///   - reasons: Why requests wait, for those of which it is known.
  init?(requests: [RequestRecord], caption: String, namesIDs: Bool = true, reasons: [RequestID: String] = [:], now: WallTime) {
    guard !requests.isEmpty else { return nil }
    let rows = requests.map { record -> View in
      let (when, time) = record.when(now)
      let last: View? = record.lastOutcome.map {
        ["badge": View(badge: $0.rawValue), "message": ForeignText.short(record.lastMessage)]
      }
      return [
        "href": PagePath.request(record.id), "name": record.name, "id": namesIDs ? record.id.description : nil,
        "tags": record.request.tags.isEmpty ? nil : "tags: \(record.request.tags.joined(separator: ", "))",
        "badge": View(badge: record.word), "when": when, "time": View(time: time, now: now), "reason": reasons[record.id],
        "attempt": [.succeeded, .cancelled].contains(record.state) ? nil : record.attempt, "last": last,
      ]
    }
    self = ["caption": caption, "rows": rows]
  }
}

extension RequestRecord {
  /// `IDENTIFIER/KEY`; the identifier alone without a key; for a schedule of the configuration its name there.
  var name: String {
    if let name = request.scheduleName { return name.description }
    guard let key = request.uniqueKey else { return request.identifier.rawValue }
    return "\(request.identifier)/\(key)"
  }

  /// What the next or last moment of the request is.
  func when(_ now: WallTime) -> (words: String, time: WallTime?) {
    switch state {
    case .succeeded, .failed, .cancelled: ("ended", ended)
    case .running: ("since", started)
    case .blocked: ("after another request", nil)
    case .pending, .claimed:
      if due < .distantFuture { (due <= now ? "due" : "starts", due) } else { (request.event.map(Self.words) ?? "unknown", nil) }
    }
  }

  private static func words(_ event: EventTrigger) -> String { event.path.map { "on a change of \($0)" } ?? "on event \(event.name)" }
}

extension RepeatRule {
  /// `every 6h`, `0 8 * * * Europe/Berlin`, `at every event`.
  var words: String {
    switch schedule {
    case .every(let interval): "every \(interval.words)"
    case .cron(let cron): "\(cron.expression) \(cron.timeZone)"
    case .event: "at every event"
    }
  }
}
