/// Asks for a short run, 30 s, that brings the app's data up to date. Each plugin may have one such request pending.
open class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {  // reason: has nothing of its own
  /// Creates a request for the task registered as `identifier`.
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
