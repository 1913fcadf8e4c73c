import HostThreads
import PluginRuntime
import Synchronization
import TaskModel
import TaskScheduler

/// What runs may ask of the host: their state, their checkpoints, submissions to identifiers they may submit to.
final class PluginServices: RunServices {
  private let store: any RequestStore
  private let clock: any HostClock
  private let submissionRules: SubmissionRules
  /// Set before the first run starts: the scheduler needs the launcher, and the launcher needs these services.
  private let scheduler = Mutex<Scheduler?>(nil)

  init(store: any RequestStore, clock: any HostClock, submissionRules: SubmissionRules) {
    self.store = store
    self.clock = clock
    self.submissionRules = submissionRules
  }

  func connect(_ scheduler: Scheduler) { self.scheduler.withLock { $0 = scheduler } }

  var wallTime: WallTime { clock.wallTime }

  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? {
    do { return try store.stateValue(key, of: run.identifier) } catch { throw CallFailure(.unavailable, error.description) }
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? {
    do { return try store.checkpoint(of: run.request) } catch { throw CallFailure(.unavailable, error.description) }
  }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try ask { scheduler, completion in
      scheduler.setState(key, to: value, run: run.run, request: run.request, identifier: run.identifier, completion: completion)
    }
  }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    try ask { scheduler, completion in
      scheduler.setCheckpoint(value, run: run.run, request: run.request, completion: completion)
    }
  }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    try submissionRules.check(request.identifier, from: run.identifier)
    return try ask { scheduler, completion in
      scheduler.submit(request, from: run.run, of: run.request, completion: completion)
    }
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) {
    let record: RequestRecord?
    do { record = try store.request(request) } catch { throw CallFailure(.unavailable, error.description) }
    guard let record, !record.state.isFinal else { throw CallFailure(.notFound, "there is no live request \(request)") }
    try submissionRules.check(record.request.identifier, from: run.identifier)
    _ = try ask { scheduler, completion in scheduler.cancel(request, completion: completion) }
  }

  private func ask<Value: Sendable>(
    _ body: (Scheduler, @escaping @Sendable (Result<Value, RequestRefusal>) -> Void) -> Void
  ) throws(CallFailure) -> Value {
    guard let scheduler = scheduler.withLock({ $0 }) else { throw CallFailure(.internal, "the scheduler has not started") }
    let answer = Blocking<Result<Value, RequestRefusal>>()
    body(scheduler) { answer.resume($0) }
    switch answer.wait() {
    case .success(let value): return value
    case .failure(let refusal): throw CallFailure(refusal)
    }
  }
}

/// Which identifiers a plugin may submit to: its own, and those of `may_submit` in its configuration.
struct SubmissionRules: Sendable {
  let others: [TaskIdentifier: [IdentifierPattern]]

  func check(_ identifier: TaskIdentifier, from plugin: TaskIdentifier) throws(CallFailure) {
    guard identifier == plugin || others[plugin]?.contains(where: { $0.matches(identifier) }) == true else {
      throw CallFailure(.notPermitted, "\(plugin) may not submit to \(identifier): add it to its may_submit")
    }
  }
}

extension CallFailure {
  /// What a refusal of the scheduler is to a plugin.
  init(_ refusal: RequestRefusal) {
    let status: Status =
      switch refusal.code {
      case .invalid: .invalid
      case .unknownIdentifier, .notFound: .notFound
      case .conflict: .stale
      case .tooBig: .tooBig
      case .limit: .limit
      case .unsupported: .unsupported
      case .unavailable: .unavailable
      }
    self.init(status, refusal.message)
  }
}
