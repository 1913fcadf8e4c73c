/// Asks for a short run that brings the app's data up to date: 30 s, and one such request pending for each plugin.
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {  // reason: has nothing of its own
  /// A request for the task that `identifier` was registered for.
  public init(identifier: String) {
    super.init(identifier: identifier)
  }

  override func duplicate() -> BGTaskRequest {
    let copy = BGAppRefreshTaskRequest(identifier: identifier)
    copy.earliestBeginDate = earliestBeginDate
    return copy
  }

  override var type: BackgroundTasksPlugin.Kind { .refresh }
}
