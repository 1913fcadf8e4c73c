import HostThreads
import OpenFiles
import TaskModel
import WorkerLink

/// Serves the calls of runs over the link.
struct HostServices: CallingServices {
  let calls: HostCalls

  var wallTime: WallTime { SystemClock().wallTime }

  func ask(_ call: WorkerCall, for run: RunReference) throws(CallFailure) -> CallAnswer { try calls.ask(call) }
}

/// Gets the host's decisions during launch over the link.
struct HostPolicy: LaunchPolicy {
  let calls: HostCalls
  let link: HostLink
  /// Nil if this launch, in the default sandbox, only determines the plugin's identifier.
  let paths: EntitledPaths?

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) { _ = try calls.ask(.admit(identifier)) }

  func settings(for identifier: TaskIdentifier) -> String {
    if case .text(let text)? = try? calls.ask(.settings(identifier)) { text } else { "{}" }
  }

  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
    guard case .text(let path) = try calls.ask(.dataDirectory(identifier)) else { throw .misunderstood }
    return path
  }

  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {
    _ = try calls.ask(.admitRequest(request, from: identifier))
  }

  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage {
    guard case .pending(let page) = try calls.ask(.launchPending(identifiers, after: request)) else { throw .misunderstood }
    return page
  }

  func entitlement(to path: String) -> PathEntitlement { paths?.entitlement(to: path) ?? [.read, .write] }

  func resourceTokens(_ name: String) throws(CallFailure) -> Int {
    guard case .count(let count) = try calls.ask(.resourceTokens(name)) else { throw .misunderstood }
    return count
  }

  func log(_ line: LogLine) { link.send(.launchLog(line)) }
}
