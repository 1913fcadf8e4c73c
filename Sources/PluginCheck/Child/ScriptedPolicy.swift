import HostThreads
import TaskModel

/// The host's decisions during launch, set by the case.
final class ScriptedPolicy: LaunchPolicy {
  /// The settings that `configuration` returns: a JSON object.
  let settings: Guarded<String>
  /// The failure that refuses registrations; nil to accept them.
  let refusal = Guarded<CallFailure?>(nil)
  /// The absolute path of the plugin's data directory.
  private let folder: String

  init(settings: String, dataDirectory: String) {
    self.settings = Guarded(settings)
    folder = dataDirectory
  }

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) { if let refusal = refusal.withLock({ $0 }) { throw refusal } }
  func settings(for identifier: TaskIdentifier) -> String { settings.withLock { $0 } }
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String { folder }
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {}
  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage { PendingPage() }
  func entitlement(to path: String) -> PathEntitlement { [.read, .write] }
  func resourceTokens(_ name: String) -> Int { 0 }
  func log(_ line: LogLine) {}
}
