import CTaskHost

extension SchedulerCore {
  /// Launches with the actions of a scene as the handlers.
  ///
  /// - Returns: What `taskhost_plugin_launch` returns.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, _ scene: @autoclosure () -> PluginScene
  ) -> taskhost_status {
    let actions = scene().actions
    let hints = Dictionary(actions.map { ($0.identifier, TaskType.refresh) }, uniquingKeysWith: { first, _ in first })
    return self.launch(api, launch, hints: hints) {
      for (identifier, action) in actions { _ = register(identifier, LaunchHandler(identifier, action: action)) }
    }
  }
}
