public import Dispatch
public import Foundation

/// Registers launch handlers while the plugin launches, and submits requests from then on as long as a run of the plugin is live.
///
/// Usable from any thread. `@unchecked Sendable`: it has no mutable state; `core` locks its own.
open class BGTaskScheduler: NSObject, @unchecked Sendable {
  let core: SchedulerCore

  init(_ core: SchedulerCore) {
    self.core = core
    super.init()
  }

  private static let one = BGTaskScheduler(SchedulerCore())

  /// The scheduler of this plugin.
  open class var shared: BGTaskScheduler { one }

  /// What a ``BGContinuedProcessingTaskRequest`` may ask for: nothing beyond the ordinary.
  open class var supportedResources: BGContinuedProcessingTaskRequest.Resources { [] }

  /// Registers the handler that is called with each run of a task identifier.
  ///
  /// Possible while the plugin launches; for an identifier that a wildcard (`NAME.*`, registered or named while launching) covers, at any
  /// time. A handler that is isolated to an actor, as a closure written in a `@MainActor` class is, is called there and not on `queue`.
  ///
  /// - Parameters:
  ///   - identifier: The task identifier; with `.*` at its end, all that begin with it.
  ///   - queue: Where `launchHandler` is called; `nil`: on a serial queue of the identifier's own.
  ///   - file: Not used; makes this and the function without it two functions.
  ///   - launchHandler: Begins the work; when it is done, call ``BGTask/setTaskCompleted(success:)``.
  /// - Returns: False, with an error line in the log, for a second handler of an identifier, one the host does not permit, and when the
  ///   launch is over.
  @discardableResult
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, _ file: StaticString = #fileID,
    launchHandler: @escaping @isolated(any) (BGTask) -> Void
  ) -> Bool {
    core.register(identifier, LaunchHandler(queue, identifier, launchHandler))
  }

  /// As the function above, with Apple's exact signature, for protocols. The handler is called on `queue`.
  @discardableResult
  @_disfavoredOverload
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
  ) -> Bool {
    core.register(identifier, LaunchHandler(queue, identifier, launchHandler))
  }

  /// Submits a request, which replaces a pending one of the same identifier; a run in progress continues.
  ///
  /// - Throws: ``BGTaskScheduler/Error``.
  open func submit(_ taskRequest: BGTaskRequest) throws {
    try core.submit(taskRequest)
  }

  /// Cancels the pending request of an identifier; a run in progress continues. If the host cannot be reached, the log says so.
  open func cancel(taskRequestWithIdentifier identifier: String) {
    core.cancel(identifier)
  }

  /// Cancels all pending requests of the plugin; runs in progress continue. If the host cannot be reached, the log says so.
  open func cancelAllTaskRequests() {
    core.cancelAll()
  }

  /// Passes the pending requests, one for each identifier, to `completionHandler` on a background queue; none if the host cannot be
  /// reached.
  open func getPendingTaskRequests(completionHandler: @escaping @Sendable ([BGTaskRequest]) -> Void) {
    let requests = core.pendingRequests()
    core.callBack { completionHandler(requests) }
  }

  /// The pending requests, one for each identifier; none if the host cannot be reached.
  open func pendingTaskRequests() async -> [BGTaskRequest] {
    core.pendingRequests()
  }
}
