import CTaskHost

/// The body of the handler: one run from beginning to end, all on the calling thread.
enum RunHandler {
  /// Returns when the run's Swift task has ended and its expiration can no longer be reported.
  static func serve<Plugin: BackgroundTask>(_ plugin: Plugin, _ table: HostFunctions, _ task: taskhost_task) -> taskhost_result {
    let run = RunHandle(table: table, task: task)
    let gated = GatedRun(run)
    let executor = RunExecutor(run.virtualTime)
    return CurrentRun.including(gated) {
      let work = Task(executorPreference: executor) {
        let outcome = await CurrentRun.$own.withValue(gated) { await RunVerdict.of(plugin, run) }
        executor.finish(outcome)
      }
      let expiration = Expiration(run) { _ in work.cancel() }
      let outcome = executor.drain()
      expiration.clear()
      gated.close()
      return outcome.report(to: run)
    }
  }
}
