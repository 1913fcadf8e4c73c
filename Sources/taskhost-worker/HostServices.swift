import HostThreads
import OpenFiles
import TaskModel
import WorkerLink

/// What runs ask of the host, over the link.
struct HostServices: RunServices {
  let calls: HostCalls

  var wallTime: WallTime { SystemClock().wallTime }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.state(run.run, key: key)) }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    _ = try calls.ask(.setState(run.run, key: key, value: value))
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.checkpoint(run.run)) }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) { _ = try calls.ask(.setCheckpoint(run.run, value)) }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    guard case .submission(let submission) = try calls.ask(.submit(run.run, request)) else { throw Self.misunderstood }
    return submission
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) { _ = try calls.ask(.cancel(run.run, request)) }

  func pendingRequests(after request: RequestID?, for run: RunReference) throws(CallFailure) -> PendingPage {
    guard case .pending(let page) = try calls.ask(.pending(run.run, after: request)) else { throw Self.misunderstood }
    return page
  }

  func cancelPending(of identifier: TaskIdentifier?, for run: RunReference) throws(CallFailure) -> Int {
    guard case .count(let count) = try calls.ask(.cancelPending(run.run, of: identifier)) else { throw Self.misunderstood }
    return count
  }

  func openFiles(_ files: [FileQuestion], in directory: String, for run: RunReference) throws(CallFailure) -> [FileUse] {
    guard let answers = try bytes(.openFiles(run.run, in: directory, files)) else { throw Self.misunderstood }
    return try FileUse.decoding(answers, of: files.count)
  }

  private func bytes(_ call: WorkerCall) throws(CallFailure) -> [UInt8]? {
    guard case .bytes(let bytes) = try calls.ask(call) else { throw Self.misunderstood }
    return bytes
  }

  static let misunderstood = CallFailure(.internal, "the host answered something else than was asked")
}

/// What the host decides while the plugin launches, over the link.
struct HostPolicy: LaunchPolicy {
  let calls: HostCalls
  let link: HostLink
  /// nil: this is a launch that only finds out whose file it is, in the default sandbox.
  let paths: EntitledPaths?

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) { _ = try calls.ask(.admit(identifier)) }

  func settings(for identifier: TaskIdentifier) -> String {
    if case .text(let text)? = try? calls.ask(.settings(identifier)) { text } else { "{}" }
  }

  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
    guard case .text(let path) = try calls.ask(.dataDirectory(identifier)) else { throw HostServices.misunderstood }
    return path
  }

  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {
    _ = try calls.ask(.admitRequest(request, from: identifier))
  }

  func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage {
    guard case .pending(let page) = try calls.ask(.launchPending(identifiers, after: request)) else { throw HostServices.misunderstood }
    return page
  }

  func entitlement(to path: String) -> PathEntitlement { paths?.entitlement(to: path) ?? [.read, .write] }

  func log(_ line: LogLine) { link.send(.launchLog(line)) }
}
