public import Dispatch
public import Foundation

/// Registers launch handlers while the plugin launches. Submits requests during the launch and whenever a run of the plugin is live.
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

  /// The resources that a ``BGContinuedProcessingTaskRequest`` may ask for: `gpu` if the host's configuration names a resource `gpu`. Known
  /// from the launch on.
  open class var supportedResources: BGContinuedProcessingTaskRequest.Resources { shared.core.supportedResources }

  /// Registers the handler for all runs of a task identifier.
  ///
  /// Register while the plugin launches. Identifiers covered by a wildcard (`NAME.*`) that was registered or named during the launch can be
  /// registered at any time. A handler isolated to an actor, such as a closure written in a `@MainActor` class, runs there and not on
  /// `queue`.
  ///
  /// - Parameters:
  ///   - identifier: The task identifier; `NAME.*` covers all that begin with `NAME.`.
  ///   - queue: The queue for `launchHandler`; `nil`: a serial queue of the identifier.
  ///   - file: Unused; distinguishes this function from the one without it.
  ///   - launchHandler: Begins the work, and calls ``BGTask/setTaskCompleted(success:)`` when it is done.
  /// - Returns: False, with an error line in the log, for a second handler of an identifier, for an identifier that the host does not
  ///   permit, and after the launch.
  @discardableResult
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, _ file: StaticString = #fileID,
    launchHandler: @escaping @isolated(any) (BGTask) -> Void
  ) -> Bool {
    core.register(identifier, LaunchHandler(queue, identifier, launchHandler))
  }

  /// Registers a handler as the function above does, with Apple's exact signature, for protocols. The handler is called on `queue`.
  @discardableResult
  @_disfavoredOverload
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
  ) -> Bool {
    core.register(identifier, LaunchHandler(queue, identifier, launchHandler))
  }

  /// Submits a request, which replaces a pending one of the same identifier. A run in progress continues.
  ///
  /// - Throws: ``BGTaskScheduler/Error``.
  open func submit(_ taskRequest: BGTaskRequest) throws {
    try core.submit(taskRequest)
  }

  /// Cancels the pending request of an identifier. A run in progress continues. Logs a warning if the host cannot be reached.
  open func cancel(taskRequestWithIdentifier identifier: String) {
    core.cancel(identifier)
  }

  /// Cancels all pending requests of the plugin. Runs in progress continue. Logs a warning if the host cannot be reached.
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
