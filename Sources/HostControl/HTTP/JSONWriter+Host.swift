import StrictText
import TaskModel

/// A host and its plugins.
extension JSONWriter {
  /// A plugin file.
  mutating func plugin(_ plugin: PluginStatus) {
    beginObject()
    member("file", plugin.file)
    member("standing", plugin.health.rawValue)
    if let contract = plugin.contract {
      member("identifier", contract.identifier.rawValue)
      member("kind", contract.kind.rawValue)
      member("budget_ms", contract.budget?.wholeMilliseconds)
      member("grace_ms", contract.grace.wholeMilliseconds)
      member("max_concurrent_runs", contract.maxConcurrentRuns)
      member("display_name", contract.displayName)
      member("version", contract.version)
      member("function_signature", contract.typed?.signature)
      member("success", contract.typed?.success.rawValue)
    }
    member("isolation", plugin.isolation)
    if let id = plugin.workerProcessID {
      name("worker")
      beginObject()
      member("process_id", id)
      member("state", plugin.workerState)
      endObject()
    }
    member("running", plugin.running)
    member("strikes", plugin.failures)
    moment("held_until", plugin.heldUntil)
    member("quarantined", plugin.isQuarantined)
    member("last_trouble", plugin.lastTrouble)
    member("signature", plugin.signature)
    member("digest", plugin.digest)
    if !plugin.sandbox.isEmpty { member("sandbox", plugin.sandbox) }
    member("quota", plugin.quota)
    member("rate", plugin.rate)
    if let code = plugin.reasonCode {
      name("reason")
      beginObject()
      member("code", code)
      member("message", plugin.reasonMessage ?? "")
      endObject()
    }
    endObject()
  }

  /// A host.
  mutating func status(_ status: HostStatus) {
    beginObject()
    member("version", status.version)
    member("process_id", status.processID)
    member("phase", status.phase.rawValue)
    moment("started", status.started)
    member("state_directory", status.stateDirectory)
    name("requests")
    beginObject()
    for state in RequestState.allCases where state != .claimed {
      let claimed = state == .pending ? status.requests[.claimed] ?? 0 : 0
      member(state.rawValue, (status.requests[state] ?? 0) + claimed)
    }
    endObject()
    member("running", status.running)
    member("max_concurrent_runs", status.maxConcurrentRuns)
    member("plugins_registered", status.pluginsRegistered)
    member("plugins_refused", status.pluginsRefused)
    moment("next_due", status.nextDue)
    array("tasks", status.tasks) { $0.activity($1) }
    name("counters")
    beginObject()
    member("events_received", status.counters.eventsReceived)
    member("events_woken", status.counters.eventsWoken)
    member("events_merged", status.counters.eventsMerged)
    member("events_dropped", status.counters.eventsDropped)
    member("log_lines_dropped", status.counters.logLinesDropped)
    endObject()
    member("needs_action", status.problems.contains(where: \.needsAction))
    array("problems", status.problems) { $0.problem($1) }
    member("warnings", status.problems.map(\.text))
    member("sandbox", status.sandbox)
    endObject()
  }

  /// The answer to `GET /v1/problems`.
  mutating func problems(_ problems: [Problem]) {
    beginObject()
    member("needs_action", problems.contains(where: \.needsAction))
    array("problems", problems) { $0.problem($1) }
    endObject()
  }

  private mutating func problem(_ problem: Problem) {
    beginObject()
    member("kind", problem.kind.rawValue)
    member("subject", problem.subject)
    member("needs_action", problem.needsAction)
    member("message", problem.sentence)
    member("remedy", problem.remedy)
    moment("since", problem.since)
    endObject()
  }

  /// What a schedule did last: never, or how its last run ended.
  private mutating func activity(_ activity: TaskActivity) {
    let schedule = activity.schedule
    beginObject()
    member("identifier", schedule.identifier.rawValue)
    member("unique_key", schedule.key)
    member("request", schedule.request?.id.description)
    if let rule = schedule.request?.request.repetition { repetition(rule) }
    member("last", schedule.lastRun?.outcome?.rawValue ?? "never")
    if let run = schedule.lastRun {
      member("last_run", run.id.description)
      member("expired", activity.hasExpired)
      moment("last_ended", run.ended)
      member("last_message", run.report.message)
    }
    moment("last_success", schedule.lastSuccess)
    member("failures_in_a_row", schedule.failures)
    moment("failing_since", schedule.failingSince)
    if let next = activity.nextStart { momentOrNull("next_start", next) }
    endObject()
  }

  /// What was held against a plugin that has been released.
  mutating func release(_ identifier: TaskIdentifier, _ health: PluginHealth) {
    beginObject()
    member("identifier", identifier.rawValue)
    member("strikes", health.failures)
    member("host_crashes", health.hostCrashes)
    moment("held_until", health.heldUntil)
    moment("quarantined_since", health.quarantinedSince)
    member("last_trouble", health.lastTrouble)
    endObject()
  }
}
