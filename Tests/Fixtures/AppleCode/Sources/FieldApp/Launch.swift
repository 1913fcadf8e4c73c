import BackgroundTasks

/// What the host calls to launch the plugin: all that the author adds.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  BackgroundTasksPlugin.launch(
    api, launch, kinds: ["test.field.render.*": .continued, "test.field.news": .refresh, "test.field.follow-up": .refresh],
    onMainActor: { didFinishLaunching() })
}

@MainActor
private func didFinishLaunching() {
  let newsDelegate = NewsDelegate.shared
  newsDelegate.register()
  newsDelegate.schedulePruning()
  FollowUp.shared.register()
  RenewalSweep.registerTask(store: RenewalStore())
  PollingService.shared.register()
  BackupJob.register()
  BackupJob.scheduleUnlessPending()
  SyncCoordinator.shared.register()
  Task.detached { await SyncCoordinator.shared.scheduleIfNeeded() }
  WrappedTasks(scheduler: SystemScheduler()).register()
  RenderStudio.shared.register()
  ManyTopics.register()
  LateChains.shared.register()
}
