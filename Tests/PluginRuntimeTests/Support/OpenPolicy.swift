import PluginRuntime
import Synchronization
import TaskModel

/// A launch policy that permits all but what it is told, and keeps what is logged.
final class OpenPolicy: LaunchPolicy {
  private let refusal: CallFailure?
  private let lines = Mutex<[LogLine]>([])

  init(refusal: CallFailure? = nil) { self.refusal = refusal }

  var logged: [String] { lines.withLock { $0.map(\.message) } }

  func admit(_ identifier: TaskIdentifier) throws(CallFailure) { if let refusal { throw refusal } }
  func settings(for identifier: TaskIdentifier) -> String { "{\"who\":\"\(identifier)\"}" }
  func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String { "/nonexistent/\(identifier)" }
  func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {}
  func log(_ line: LogLine) { lines.withLock { $0.append(line) } }
}
