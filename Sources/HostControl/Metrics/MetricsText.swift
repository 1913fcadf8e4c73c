import NIOCore
import TaskModel

/// `GET /metrics`: a host's figures under the names that Documentation/monitoring.md lists. No label holds an id, so their number is bounded
/// by the configuration and the plugins.
struct MetricsText {
  private var writer: MetricsWriter
  private let metrics: HostMetrics
  private var status: HostStatus { metrics.status }

  /// - Parameter failedHandshakes: The connections over TCP that ended before TLS began; nil if the host speaks no TLS.
  static func write(_ metrics: HostMetrics, failedHandshakes: UInt64? = nil) -> ByteBuffer {
    var text = MetricsText(writer: MetricsWriter(reservingCapacity: 16_384 + metrics.tasks.count * 4096), metrics: metrics)
    text.host()
    text.requests()
    text.runs()
    text.schedules()
    text.notifications()
    text.counters()
    if let failedHandshakes { text.handshakes(failedHandshakes) }
    return text.writer.buffer
  }

  private mutating func host() {
    writer.metric("taskhost_build_info", .gauge, "Always 1; the labels say what runs.")
    writer.sample("taskhost_build_info", ["version": status.version], 1)
    writer.metric("taskhost_start_time_seconds", .gauge, "When the host started, in seconds since the Unix epoch.")
    writer.sample("taskhost_start_time_seconds", [:], status.started)
    writer.metric("taskhost_phase", .gauge, "1 for the phase that the host is in.")
    for phase in HostPhase.allCases { writer.sample("taskhost_phase", ["phase": phase.rawValue], phase == status.phase ? 1 : 0) }
    writer.metric("taskhost_plugins", .gauge, "Registered identifiers and refused plugin files.")
    writer.sample("taskhost_plugins", ["state": "registered"], status.pluginsRegistered)
    writer.sample("taskhost_plugins", ["state": "refused"], status.pluginsRefused)
    writer.metric("taskhost_problems", .gauge, "What the operator should know, by kind. needs_action: a person must act.")
    for kind in Problem.Kind.allCases {
      let found = status.problems.filter { $0.kind == kind }
      let urgent = found.count { $0.needsAction }
      writer.sample("taskhost_problems", ["kind": kind.rawValue, "needs_action": "true"], urgent)
      writer.sample("taskhost_problems", ["kind": kind.rawValue, "needs_action": "false"], found.count - urgent)
    }
    writer.metric("taskhost_process_cpu_seconds_total", .counter, "Processor time of the host's process, without its workers.")
    writer.sample("taskhost_process_cpu_seconds_total", [:], metrics.processorTime)
  }

  private mutating func requests() {
    writer.metric("taskhost_requests", .gauge, "Requests in the store, by state.")
    for state in RequestState.allCases { writer.sample("taskhost_requests", ["state": state.rawValue], status.requests[state] ?? 0) }
    writer.metric("taskhost_overdue_identifiers", .gauge, "Identifiers with work that is due for a long time and does not run.")
    writer.sample("taskhost_overdue_identifiers", [:], status.problems.count { $0.kind == .overdue && $0.needsAction })
    let objectives = status.objectives
    writer.metric("taskhost_overdue_schedules", .gauge, "Identifiers without a success within expect_within.")
    writer.sample("taskhost_overdue_schedules", [:], objectives.count { $0.overdueSince != nil })
    writer.metric("taskhost_objective_met", .gauge, "0 for an identifier that is late, as expect_within or start_within says, else 1.")
    for state in objectives {
      for (name, wanted, missed) in [
        ("expect_within", state.expectWithin, state.overdueSince), ("start_within", state.startWithin, state.lateSince),
      ] where wanted != nil {
        writer.sample(
          "taskhost_objective_met", ["identifier": state.identifier.rawValue, "objective": name], missed == nil ? 1 : 0)
      }
    }
    writer.metric("taskhost_pauses", .gauge, "Pauses of operators that are in force.")
    writer.sample("taskhost_pauses", [:], status.pauses.count)
    if let oldest = status.pauses.map(\.since).min() {
      writer.metric("taskhost_oldest_pause_timestamp_seconds", .gauge, "When the oldest pause in force began, since the Unix epoch.")
      writer.sample("taskhost_oldest_pause_timestamp_seconds", [:], oldest)
    }
    writer.metric("taskhost_assertions", .gauge, "Execution assertions that are held.")
    writer.sample("taskhost_assertions", [:], status.assertions.count)
  }

  private mutating func runs() {
    writer.metric("taskhost_live_runs", .gauge, "Runs that are live.")
    writer.sample("taskhost_live_runs", [:], status.running)
    writer.metric("taskhost_live_runs_limit", .gauge, "max_concurrent_runs.")
    writer.sample("taskhost_live_runs_limit", [:], status.maxConcurrentRuns)
    let tasks = metrics.tasks.sorted { $0.key < $1.key }.map { identifier, counts in
      (identifier: identifier, labels: ["identifier": identifier.rawValue] as MetricsWriter.Labels, counts: counts)
    }
    writer.metric("taskhost_runs_total", .counter, "Runs that ended, by outcome and by the reason for which they were asked to stop.")
    for (identifier, _, counts) in tasks {
      let endings = counts.endings.map { ($0.key.outcome.rawValue, $0.key.stopReason?.rawValue ?? "", $0.value) }
      for (outcome, reason, count) in endings.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
        writer.sample("taskhost_runs_total", ["identifier": identifier.rawValue, "outcome": outcome, "stop_reason": reason], count)
      }
    }
    writer.metric("taskhost_forced_stops_total", .counter, "Runs that were stopped by force.")
    for task in tasks { writer.sample("taskhost_forced_stops_total", task.labels, task.counts.forcedStops) }
    writer.metric("taskhost_run_duration_seconds", .histogram, "How long handlers ran.")
    for task in tasks { writer.sample("taskhost_run_duration_seconds", task.labels, task.counts.durations) }
    writer.metric("taskhost_queue_latency_seconds", .histogram, "How long requests of an identifier waited after they were due.")
    for task in tasks { writer.sample("taskhost_queue_latency_seconds", task.labels, task.counts.queueLatency) }
    writer.metric("taskhost_start_lateness_seconds", .histogram, "How long after its due time a run began, whatever held it back.")
    writer.sample("taskhost_start_lateness_seconds", [:], metrics.startLateness)
  }

  /// One series for each identifier: the keys of requests are unbounded.
  private mutating func schedules() {
    let schedules = metrics.schedules.sorted { $0.key < $1.key }
    writer.metric("taskhost_last_success_timestamp_seconds", .gauge, "When a run last succeeded, in seconds since the Unix epoch.")
    for (identifier, sum) in schedules {
      guard let time = sum.lastSuccess else { continue }
      writer.sample("taskhost_last_success_timestamp_seconds", ["identifier": identifier.rawValue], time)
    }
    writer.metric("taskhost_consecutive_failures", .gauge, "Failed runs since the last success; of several schedules, the most.")
    for (identifier, sum) in schedules {
      writer.sample("taskhost_consecutive_failures", ["identifier": identifier.rawValue], sum.failures)
    }
  }

  private mutating func notifications() {
    writer.metric("taskhost_notifications_total", .counter, "Notifications and attempts to deliver them, by what became of them.")
    let counts = metrics.notifications.sorted { ($0.key.rule, $0.key.outcome.rawValue) < ($1.key.rule, $1.key.outcome.rawValue) }
    for (key, count) in counts {
      writer.sample("taskhost_notifications_total", ["rule": key.rule, "outcome": key.outcome.rawValue], count)
    }
    writer.metric("taskhost_pings_total", .counter, "Pings of monitors of schedules, by what became of them.")
    for (outcome, count) in metrics.pings.sorted(by: { $0.key < $1.key }) {
      writer.sample("taskhost_pings_total", ["outcome": outcome], count)
    }
    guard let spans = metrics.spans else { return }
    writer.metric("taskhost_spans_exported_total", .counter, "Spans of traces that the collector has taken.")
    writer.sample("taskhost_spans_exported_total", [:], spans.exported)
    writer.metric(
      "taskhost_spans_dropped_total", .counter, "Spans of traces that were given up: no room was left, or the collector refused them.")
    writer.sample("taskhost_spans_dropped_total", [:], spans.dropped)
  }

  private mutating func handshakes(_ failed: UInt64) {
    writer.metric("taskhost_tls_handshakes_failed_total", .counter, "Connections over TCP that ended before TLS began.")
    writer.sample("taskhost_tls_handshakes_failed_total", [:], failed)
  }

  private mutating func counters() {
    let counters = status.counters
    for (name, help, value) in [
      ("events_received", "Events that the host received.", counters.eventsReceived),
      ("events_woken", "Requests that events made due.", counters.eventsWoken),
      ("events_merged", "Events merged into a run to come.", counters.eventsMerged),
      ("events_dropped", "Events that no request waited for, or that came too fast.", counters.eventsDropped),
      ("log_lines_dropped", "Log lines that were lost.", counters.logLinesDropped),
      ("assertions_refused", "Execution assertions refused because too many were held.", counters.assertionsRefused),
      ("store_commits", "Commits of the store; each waits for the disk once.", metrics.commits),
      ("worker_starts", "Worker processes that were started.", metrics.workerStarts),
    ] {
      writer.metric("taskhost_\(name)_total", .counter, help)
      writer.sample("taskhost_\(name)_total", [:], value)
    }
    writer.metric("taskhost_store_log_bytes", .gauge, "The size of the store's write-ahead log.")
    writer.sample("taskhost_store_log_bytes", [:], metrics.logBytes)
  }
}
