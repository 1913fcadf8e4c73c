import CalendarTime
import StrictText
public import TaskModel

/// The page of a request.
public enum RequestPage {
  /// - Parameters:
  ///   - record: The request, with its payload.
  ///   - explanation: Why it does not run; nil if nobody knows.
  ///   - runs: Its runs, newest first; the first with its log.
  ///   - predecessors: What it waits for, directly or through others, as far as it is on record.
  public static func make(
    _ record: RequestRecord, _ explanation: RequestExplanation?, runs: [RunRecord], predecessors: [RequestID: RequestRecord],
    plugins: [PluginStatus], now: WallTime
  ) -> Page {
    let path = PagePath.request(record.id)
    var values: View = [
      "name": record.name, "id": record.id.description, "badge": View(badge: record.word), "buttons": buttons(record, path),
      "facts": facts(record, lastRun: runs.first, now), "graph": PredecessorGraph.view(of: record, among: predecessors),
      "live": View(live: runs, plugins.contracts, now: now),
      "runs": View(runs: runs, caption: "Runs, newest first", namesTask: false, now: now),
      "timeline": runs.count > 1 ? Lanes.attempts(runs, now: now) : nil,
      "payload": ForeignText.bytes(record.request.payload).map { ["text": $0] as View },
      "log": runs.first.flatMap { View(log: $0.report.log) },
    ]
    if [.pending, .claimed, .blocked].contains(record.state) { values["snooze"] = ["action": "\(path)/snooze"] as View }
    explain(record, explanation, &values, now)
    return Page(
      record.name, in: .requests, "request", values, now: now, changes: PagePath.query(PagePath.changes, ["request": record.id.description])
    )
  }

  private static func explain(_ record: RequestRecord, _ explanation: RequestExplanation?, _ values: inout View, _ now: WallTime) {
    if record.state.isFinal {
      values["whyTitle"] = "What became of it"
      values["whyNothing"] = "It ended as \(record.state.rawValue)\(record.lastMessage.map { ": \($0)" } ?? "")."
      return
    }
    values["whyTitle"] = record.state == .running ? "Why it runs" : "Why it does not run now"
    values["whyNothing"] = record.state == .running ? "Its time and its turn have come." : "Nothing holds it: it is about to start."
    guard let explanation else { return values["whyNothing"] = "The host does not say." }
    values["gates"] = explanation.gates.map { gate -> View in
      ["sentence": gate.sentence, "time": View(time: gate.until, now: now), "remedy": gate.remedy]
    }
    let facts: [View?] = [
      View(fact: "Place in line", explanation.place.map { "\($0)" }),
      View(fact: "Earliest start", explanation.earliestStart, now: now),
      View(fact: "Assumed", explanation.assumptions.joined(separator: "; ")),
      View(fact: "Would run if", explanation.wouldRunIf.joined(separator: "; ")),
    ]
    values["whyFacts"] = facts.compactMap(\.self)
  }

  private static func buttons(_ record: RequestRecord, _ path: String) -> [View] {
    func button(_ label: String, _ action: String, kind: String? = nil) -> View {
      View(button: label, "\(path)/\(action)", of: record.name, kind: kind)
    }
    switch record.state {
    case .failed: return [button("Retry", "retry", kind: "main"), button("Discard", "discard", kind: "danger")]
    case .succeeded, .cancelled: return []
    case .blocked, .pending, .claimed, .running:
      let pause = record.paused == nil ? button("Pause", "pause") : button("Resume", "resume", kind: "main")
      return record.stopRequested == nil ? [pause, button("Cancel", "cancel", kind: "danger")] : [pause]
    }
  }

  private static func facts(_ record: RequestRecord, lastRun: RunRecord?, _ now: WallTime) -> [View] {
    let request = record.request
    let isAlone = request.uniqueKey == nil && record.isRepeating
    let task = PagePath.task(request.identifier, key: request.uniqueKey, request: isAlone ? record.id : nil)
    // A request that has ended counts its attempts anew, in case that it is tried again.
    let attempt = record.state.isFinal ? lastRun?.attempt ?? record.attempt : record.attempt
    let limits = request.retry.map { " of \($0.attempts)" } ?? ""
    let resources = request.gates.resources.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    let paused = record.state.isFinal ? nil : record.paused
    let facts: [View?] = [
      View(fact: "Schedule", record.name, href: task), View(fact: "Due", record.state.isFinal ? nil : record.due, now: now),
      View(fact: "Repeats", request.repetition?.words), View(fact: "Occurrence", record.occurrence, now: now),
      View(fact: "Attempt", "\(attempt)\(limits)"), View(fact: "Lost in a row", record.losses > 0 ? "\(record.losses)" : nil),
      View(fact: "Last outcome", record.lastOutcome?.rawValue), View(fact: "Message", ForeignText.short(record.lastMessage)),
      View(fact: "Submitted", record.submitted, now: now), View(fact: "Started", record.started, now: now),
      View(fact: "Ended", record.ended, now: now), View(fact: "Deadline", request.deadline, now: now),
      View(fact: "Paused by", paused?.by), View(fact: "Paused because", paused?.reason),
      View(fact: "Needs", request.conditions.names.joined(separator: ", ")), View(fact: "Window", request.gates.window),
      View(fact: "Resources", resources.joined(separator: ", ")), View(fact: "Shares a limit by", request.gates.concurrencyKey),
      View(fact: "Prefers", request.gates.prefer), View(fact: "Last host", request.gates.lastHost),
      View(fact: "Priority", request.priority == 0 ? nil : "\(request.priority)"), View(fact: "Event", request.event?.name),
      View(fact: "Tags", request.tags.joined(separator: ", ")), View(fact: "Submitted by", request.owner?.rawValue),
      View(fact: "Trace", request.traceparent?.description),
    ]
    return facts.compactMap(\.self)
  }

  /// The page of a request that is not on record any more.
  ///
  /// - Parameter runs: What the history has of it.
  public static func gone(_ id: RequestID, runs: [RunRecord], now: WallTime) -> Page {
    let submitted = WallTime(unixMilliseconds: id.sequence >> 12)
    let time = RFC3339.format(submitted) == nil ? nil : MomentFormat.local(submitted.unixMilliseconds)
    let ending = runs.first.map { run in
      let ended = run.ended.map { " at \(MomentFormat.local($0.unixMilliseconds))" } ?? ""
      return "Its last run ended as \(run.word)\(ended)\(run.report.message.map { ": \($0)" } ?? "")."
    }
    let values: View = [
      "heading": "This request is gone",
      "sentence":
        "There is no request \(id).\(time.map { " By its id, it was submitted at \($0), if it was a request of this host." } ?? "")",
      "became": [
        ending
          ?? "The history has no run of it either: the host forgets requests that succeeded or were cancelled once [history] in taskhost.toml "
          + "no longer keeps their runs. One that failed for good stays until somebody retries or discards it, so this one did not."
      ],
      "runs": View(runs: runs, caption: "Its runs, newest first", namesTask: true, now: now),
      "back": Page.Section.requests.path, "backLabel": "All requests",
    ]
    return Page("Request \(id)", in: .requests, "failure", values, now: now, changes: nil)
  }
}
