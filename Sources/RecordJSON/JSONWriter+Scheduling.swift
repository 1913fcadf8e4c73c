public import StrictText
public import TaskModel

/// Explanations, conditions, events and forecasts.
extension JSONWriter {
  /// Why a request is not running: `gates` as sentences, `details` with all that is known of each gate.
  public mutating func explanation(_ explanation: RequestExplanation) {
    member("id", explanation.id.description)
    member("gates", explanation.gates.map(\.sentence))
    array("details", explanation.gates) { $0.gate($1) }
    member("place", explanation.place)
    momentOrNull("earliest_start", explanation.earliestStart)
    if !explanation.assumptions.isEmpty { member("assumptions", explanation.assumptions) }
    member("would_run_if", explanation.wouldRunIf)
    if !explanation.expectations.isEmpty { member("expectations", explanation.expectations) }
  }

  /// What keeps a request from running.
  public mutating func gate(_ gate: Gate) {
    member("gate", gate.kind)
    member("sentence", gate.sentence)
    moment("since", gate.since)
    if let until = gate.until, until < .distantFuture { moment("until", until) }
    if !gate.heldBy.isEmpty { member("held_by", gate.heldBy) }
    member("remedy", gate.remedy)
  }

  /// The machine's conditions, as the member `conditions`.
  public mutating func conditions(_ report: ConditionReport) {
    array("conditions", report.states) { writer, state in
      writer.member("name", state.condition.names.joined(separator: ","))
      writer.member("holds", state.holds)
      writer.moment("since", state.since)
      writer.member("observed", state.observed)
      writer.member("known", state.isKnown)
      writer.member("watched", state.isWatched)
      writer.member("overridden", state.isOverridden)
      writer.moment("settles_at", state.settlesAt)
    }
  }

  /// The effect of an event.
  public mutating func receipt(_ receipt: EventReceipt) {
    member("event", receipt.event)
    member("woken", receipt.woken)
    member("merged", receipt.merged)
    member("dropped", receipt.dropped)
    member("waiting", receipt.waiting)
  }

  /// The runs of a coming time.
  public mutating func forecast(_ forecast: Forecast) {
    moment("from", forecast.from)
    moment("to", forecast.to)
    array("entries", forecast.entries) { writer, entry in
      writer.moment("at", entry.at)
      writer.member("identifier", entry.identifier.rawValue)
      writer.member("request", entry.request.description)
      writer.moment("occurrence", entry.occurrence)
      writer.member("duration_ms", entry.duration?.wholeMilliseconds)
      writer.member("assumed", entry.assumed)
    }
    array("requests", forecast.counts) { writer, count in
      writer.member("request", count.request.description)
      writer.member("identifier", count.identifier.rawValue)
      writer.member("runs", count.runs)
    }
    moment("complete_until", forecast.completeUntil)
    array("held", forecast.held) { writer, held in
      writer.member("request", held.request.description)
      writer.member("identifier", held.identifier.rawValue)
      writer.member("reason", held.reason)
    }
    member("notes", forecast.notes)
    member("truncated", forecast.isTruncated)
  }
}
