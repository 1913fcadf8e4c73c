import PluginRuntime
import Synchronization
import TaskModel

/// The host's services in memory.
final class MemoryServices: RunServices {
  private struct State {
    var values: [String: [UInt8]] = [:]
    var checkpoints: [RequestID: [UInt8]] = [:]
    var submitted: [TaskRequest] = []
  }

  private let state = Mutex(State())

  var wallTime: WallTime { WallTime(unixMilliseconds: 1_700_000_000_000) }
  var submitted: [TaskRequest] { state.withLock { $0.submitted } }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    state.withLock { $0.values["\(run.identifier) \(key)"] }
  }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    state.withLock { $0.values["\(run.identifier) \(key)"] = value }
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? { state.withLock { $0.checkpoints[run.request] } }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    state.withLock { $0.checkpoints[run.request] = value }
  }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    state.withLock { $0.submitted.append(request) }
    return Submission(id: run.request, disposition: .created, nextStart: wallTime)
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) { throw CallFailure(.notFound, "nothing to cancel") }
}
