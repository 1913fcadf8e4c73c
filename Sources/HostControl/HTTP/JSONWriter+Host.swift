import RecordJSON
import StrictText
import TaskModel

/// The host, its plugins and its problems.
extension JSONWriter {
  mutating func plugin(_ plugin: PluginStatus) {
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
    if let command = plugin.command { member("command", command) }
    member("isolation", plugin.isolation)
    if let id = plugin.workerProcessID {
      object("worker") {
        $0.member("process_id", id)
        $0.member("state", plugin.workerState)
      }
    }
    member("running", plugin.running)
    member("strikes", plugin.failures)
    moment("held_until", plugin.heldUntil)
    member("quarantined", plugin.isQuarantined)
    member("last_trouble", plugin.lastTrouble)
    member("signature", plugin.signature)
    member("digest", plugin.digest)
    if !plugin.sandbox.isEmpty { member("sandbox", plugin.sandbox) }
    if !plugin.permissions.isEmpty { member("permissions", plugin.permissions) }
    if let pending = plugin.approval { object("approval") { $0.approval(pending) } }
    member("quota", plugin.quota)
    member("rate", plugin.rate)
    if let code = plugin.reasonCode {
      object("reason") {
        $0.member("code", code)
        $0.member("message", plugin.reasonMessage ?? "")
      }
    }
  }

  mutating func status(_ status: HostStatus) {
    member("version", status.version)
    member("process_id", status.processID)
    member("phase", status.phase.rawValue)
    moment("started", status.started)
    member("state_directory", status.stateDirectory)
    object("requests") { writer in
      for state in RequestState.allCases where state != .claimed {
        let claimed = state == .pending ? status.requests[.claimed] ?? 0 : 0
        writer.member(state.rawValue, (status.requests[state] ?? 0) + claimed)
      }
    }
    member("running", status.running)
    member("max_concurrent_runs", status.maxConcurrentRuns)
    member("plugins_registered", status.pluginsRegistered)
    member("plugins_refused", status.pluginsRefused)
    moment("next_due", status.nextDue)
    array("tasks", status.tasks) { $0.activity($1) }
    object("counters") { [counters = status.counters] in
      $0.member("events_received", counters.eventsReceived)
      $0.member("events_woken", counters.eventsWoken)
      $0.member("events_merged", counters.eventsMerged)
      $0.member("events_dropped", counters.eventsDropped)
      $0.member("log_lines_dropped", counters.logLinesDropped)
      $0.member("assertions_refused", counters.assertionsRefused)
    }
    array("assertions", status.assertions) { $0.assertion($1) }
    array("pauses", status.pauses) { $0.pause($1) }
    array("objectives", status.objectives) { $0.objective($1) }
    problems(status.problems)
    member("warnings", status.problems.map(\.text))
    member("sandbox", status.sandbox)
  }

  mutating func assertion(_ assertion: Assertion) {
    let request = assertion.request
    member("id", assertion.id.description)
    member("name", request.name)
    member("reason", request.reason)
    member("state", assertion.state.rawValue)
    member("identifier", request.run?.identifier.rawValue)
    member("run", request.run?.run.description)
    member("process_id", request.process)
    member("user_id", request.user.map(Int64.init))
    moment("since", assertion.since)
    moment("expires", assertion.expires)
    member("remaining_ms", assertion.remaining.wholeMilliseconds)
  }

  /// What is expected of an identifier, and whether it is late.
  private mutating func objective(_ state: ObjectiveState) {
    member("identifier", state.identifier.rawValue)
    member("expect_within_ms", state.expectWithin?.wholeMilliseconds)
    member("start_within_ms", state.startWithin?.wholeMilliseconds)
    moment("last_success", state.lastSuccess)
    moment("expected", state.expected)
    moment("overdue_since", state.overdueSince)
    moment("late_since", state.lateSince)
  }

  mutating func problems(_ problems: [Problem]) {
    member("needs_action", problems.contains(where: \.needsAction))
    array("problems", problems) { $0.problem($1) }
  }

  private mutating func problem(_ problem: Problem) {
    member("kind", problem.kind.rawValue)
    member("subject", problem.subject)
    member("needs_action", problem.needsAction)
    member("message", problem.sentence)
    member("remedy", problem.remedy)
    moment("since", problem.since)
  }

  /// What a schedule last did: nothing yet, or how its last run ended.
  private mutating func activity(_ activity: TaskActivity) {
    let schedule = activity.schedule
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
      if let work = run.report.work { self.work("last_work", work) }
    }
    moment("last_success", schedule.lastSuccess)
    member("failures_in_a_row", schedule.failures)
    moment("failing_since", schedule.failingSince)
    if let next = activity.nextStart { momentOrNull("next_start", next) }
    if let gate = activity.throttle { object("throttled") { $0.gate(gate) } }
  }

  /// What was recorded against a plugin before its release.
  mutating func release(_ identifier: TaskIdentifier, _ health: PluginHealth) {
    member("identifier", identifier.rawValue)
    member("strikes", health.failures)
    member("host_crashes", health.hostCrashes)
    moment("held_until", health.heldUntil)
    moment("quarantined_since", health.quarantinedSince)
    member("last_trouble", health.lastTrouble)
  }
}
