import Glibc
public import TaskModel
import TaskStore
import WorkerProcesses

extension Host {
  /// The host's figures for monitoring.
  public func metrics() async -> HostMetrics {
    let (status, handlers, shared) = await wholeStatus(onlyFailing: true)
    var schedules = (try? store.scheduleSums()) ?? [:]
    // Of what the fleet runs without a schedule, nobody counts failures in a row: no figure is better than 0.
    for identifier in handlers where schedules[identifier] == nil { schedules[identifier] = ScheduleSum() }
    for identifier in fleet?.identifiers ?? [] { schedules[identifier] = shared.sums[identifier] }
    let (tasks, lateness) = events.endedRuns.current
    return HostMetrics(
      status: status, schedules: schedules, tasks: tasks, startLateness: lateness, commits: store.commits, logBytes: store.logBytes,
      workerStarts: PluginWorker.starts, processorTime: Self.processorTime,
      notifications: events.notices.current, pings: events.pings ?? [:], spans: events.spans)
  }

  private static var processorTime: Duration {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
