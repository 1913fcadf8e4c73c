import HostThreads
import TaskModel

/// The host's decisions during launch, as the case sets them.
final class ScriptedPolicy: LaunchPolicy {
  private struct State {
    var settings: String
    var refusal: CallFailure?
  }

  private let state: Guarded<State>
  private let folder: String

  /// - Parameters:
  ///   - settings: A JSON object.
  ///   - dataDirectory: An absolute path.
  init(settings: String, dataDirectory: String) {
    state = Guarded(State(settings: settings))
    folder = dataDirectory
  }

  /// Sets the result of `configuration`.
  func give(settings: String) { state.withLock { $0.settings = settings } }

  /// Sets how registrations are refused; nil to accept them.
  func refuse(with failure: CallFailure?) { state.withLock { $0.refusal = failure } }

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) { if let refusal = state.withLock({ $0.refusal }) { throw refusal } }
  func settings(for identifier: TaskIdentifier) -> String { state.withLock { $0.settings } }
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String { folder }
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {}
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage { PendingPage() }
  func entitlement(to path: String) -> PathEntitlement { [.read, .write] }
  func log(_ line: LogLine) {}
}
