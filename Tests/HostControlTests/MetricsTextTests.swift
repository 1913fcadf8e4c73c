import NIOCore
import TaskModel
import Testing

@testable import HostControl

@Suite("Metrics") struct MetricsTextTests {
  private func text(_ metrics: HostMetrics) -> String { String(buffer: MetricsText.write(metrics)) }

  private var late: ObjectiveState {
    var state = ObjectiveState(
      .transfers, expectWithin: .seconds(1), startWithin: .seconds(1), countsFrom: WallTime(unixMilliseconds: 0), lastSuccess: nil)
    state.overdueSince = WallTime(unixMilliseconds: 1000)
    return state
  }

  private var status: HostStatus {
    HostStatus(
      version: "1\"\\\n", processID: 1, phase: .launched, started: WallTime(unixMilliseconds: 1_700_000_000_250), stateDirectory: "/",
      requests: [.pending: 2], running: 1, maxConcurrentRuns: 16, pluginsRegistered: 3, pluginsRefused: 1, nextDue: nil,
      problems: [
        Problem(.overdue, of: "a", "late", remedy: "look"), Problem(.overdue, of: "b", "paused", remedy: "resume", needsAction: false),
        Problem(.limit, "small", remedy: "raise", needsAction: false),
      ],
      pauses: [3, 2].map { Pause(id: PauseID($0), order: PauseOrder(by: "a"), since: WallTime(unixMilliseconds: $0 * 1000)) },
      objectives: [late])
  }

  @Test("values have base units, label values are escaped, and histograms add up")
  func format() throws {
    var task = TaskMetrics()
    var run = RunRecord(
      id: RunID(sequence: 1, origin: 1), request: RequestID(sequence: 2, origin: 1), identifier: try TaskIdentifier("a"), attempt: 1,
      started: WallTime(unixMilliseconds: 0), ended: WallTime(unixMilliseconds: 1), outcome: .failed)
    run.report.began = run.started
    run.report.due = run.started
    for took in [Duration.microseconds(1), .milliseconds(50), .seconds(100_000)] {
      run.report.handlerTime = took
      task.add(run)
    }
    let schedules = [run.identifier: ScheduleSum(lastSuccess: WallTime(unixMilliseconds: 2500), failures: 4)]
    let metrics = HostMetrics(status: status, schedules: schedules, tasks: [run.identifier: task], processorTime: .milliseconds(1500))
    let lines = Set(text(metrics).split(separator: "\n").map(String.init))
    for line in [
      #"taskhost_build_info{version="1\"\\\n"} 1"#, "taskhost_start_time_seconds 1700000000.25", #"taskhost_phase{phase="launched"} 1"#,
      #"taskhost_phase{phase="draining"} 0"#, #"taskhost_requests{state="pending"} 2"#, #"taskhost_requests{state="failed"} 0"#,
      #"taskhost_problems{kind="overdue",needs_action="true"} 1"#, #"taskhost_problems{kind="limit",needs_action="false"} 1"#,
      "taskhost_overdue_identifiers 1", "taskhost_pauses 2", "taskhost_overdue_schedules 1",
      #"taskhost_objective_met{identifier="org.taskhost.transfers",objective="expect_within"} 0"#,
      #"taskhost_objective_met{identifier="org.taskhost.transfers",objective="start_within"} 1"#,
      "taskhost_oldest_pause_timestamp_seconds 2", #"taskhost_consecutive_failures{identifier="a"} 4"#,
      #"taskhost_last_success_timestamp_seconds{identifier="a"} 2.5"#,
      "taskhost_process_cpu_seconds_total 1.5",
      #"taskhost_runs_total{identifier="a",outcome="failed",stop_reason=""} 3"#,
      #"taskhost_run_duration_seconds_bucket{identifier="a",le="0.001"} 1"#,
      #"taskhost_run_duration_seconds_bucket{identifier="a",le="0.1"} 2"#,
      #"taskhost_run_duration_seconds_bucket{identifier="a",le="86400"} 2"#,
      #"taskhost_run_duration_seconds_bucket{identifier="a",le="+Inf"} 3"#,
      #"taskhost_run_duration_seconds_sum{identifier="a"} 100000.050001"#, #"taskhost_run_duration_seconds_count{identifier="a"} 3"#,
      #"taskhost_queue_latency_seconds_bucket{identifier="a",le="0.001"} 3"#, "taskhost_start_lateness_seconds_count 0",
    ] { #expect(lines.contains(line), "\(line)") }
  }

  @Test("each metric is declared once, before its samples, which stand together")
  func order() throws {
    var declared: [String] = []
    for line in text(HostMetrics(status: status)).split(separator: "\n") {
      if line.hasPrefix("# TYPE ") {
        declared.append(String(line.split(separator: " ")[2]))
      } else if !line.hasPrefix("#") {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        let metric = try #require(declared.last)
        #expect(name == metric || ["_bucket", "_sum", "_count"].contains { name == metric + $0 }, "\(line)")
      }
    }
    #expect(Set(declared).count == declared.count)
    #expect(declared.allSatisfy { $0.hasPrefix("taskhost_") })
  }
}
