import HostThreads
import Synchronization
import TaskModel
import TaskScheduler
import WorkerLink
import WorkerProcesses

/// What runs may ask of the host: their state, their checkpoints, submissions to identifiers they may submit to.
///
/// Asked from worker processes by messages and from threads of the host by calls that block: one way in for both.
final class PluginServices: WorkerServices {
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

  /// Serves a call; the answer comes when it is durable, on any thread. Returns at once but for a look into the store.
  func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void) {
    do throws(CallFailure) { try begin(call, run, completion) } catch { completion(.failure(error)) }
  }

  private func begin(
    _ call: WorkerCall, _ run: RunReference, _ completion: @escaping @Sendable (CallAnswer) -> Void
  ) throws(CallFailure) {
    guard let scheduler = scheduler.withLock({ $0 }) else { throw CallFailure(.internal, "the scheduler has not started") }
    switch call {
    case .state(_, let key): completion(.bytes(try reading { () throws(StoreError) in try store.stateValue(key, of: run.identifier) }))
    case .checkpoint: completion(.bytes(try reading { () throws(StoreError) in try store.checkpoint(of: run.request) }))
    case .setState(_, let key, let value):
      scheduler.setState(key, to: value, run: run.run, request: run.request, identifier: run.identifier) { completion(CallAnswer($0)) }
    case .setCheckpoint(_, let value):
      scheduler.setCheckpoint(value, run: run.run, request: run.request) { completion(CallAnswer($0)) }
    case .submit(_, let request):
      try submissionRules.check(request.identifier, from: run.identifier)
      scheduler.submit(request, from: run.run, of: run.request) { result in
        completion(CallAnswer(result.map { .submission($0) }))
      }
    case .cancel(_, let request):
      let record = try reading { () throws(StoreError) in try store.request(request) }
      guard let record, !record.state.isFinal else { throw CallFailure(.notFound, "there is no live request \(request)") }
      try submissionRules.check(record.request.identifier, from: run.identifier)
      scheduler.cancel(request) { completion(CallAnswer($0.map { _ in .done })) }
    case .admit, .settings, .dataDirectory, .admitRequest: throw .launchIsOver
    }
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(CallFailure) -> Value {
    do { return try body() } catch { throw CallFailure(.unavailable, error.description) }
  }
}

/// For runs in threads of the host: each call blocks the plugin's thread until its answer is there.
extension PluginServices: RunServices {
  func state(_ key: String, for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.state(run.run, key: key), run) }

  func setState(_ key: String, to value: [UInt8]?, for run: RunReference) throws(CallFailure) {
    _ = try ask(.setState(run.run, key: key, value: value), run)
  }

  func checkpoint(for run: RunReference) throws(CallFailure) -> [UInt8]? { try bytes(.checkpoint(run.run), run) }

  func setCheckpoint(_ value: [UInt8]?, for run: RunReference) throws(CallFailure) { _ = try ask(.setCheckpoint(run.run, value), run) }

  func submit(_ request: TaskRequest, for run: RunReference) throws(CallFailure) -> Submission {
    guard case .submission(let submission) = try ask(.submit(run.run, request), run) else {
      throw CallFailure(.internal, "a submission was answered with something else")
    }
    return submission
  }

  func cancel(_ request: RequestID, for run: RunReference) throws(CallFailure) { _ = try ask(.cancel(run.run, request), run) }

  private func bytes(_ call: WorkerCall, _ run: RunReference) throws(CallFailure) -> [UInt8]? {
    guard case .bytes(let bytes) = try ask(call, run) else { throw CallFailure(.internal, "a read was answered with something else") }
    return bytes
  }

  private func ask(_ call: WorkerCall, _ run: RunReference) throws(CallFailure) -> CallAnswer {
    let blocking = Blocking<CallAnswer>()
    serve(call, for: run) { blocking.resume($0) }
    let answer = blocking.wait()
    if case .failure(let failure) = answer { throw failure }
    return answer
  }
}

extension CallAnswer {
  /// What the scheduler's answer is to a plugin.
  fileprivate init(_ result: Result<CallAnswer, RequestRefusal>) {
    switch result {
    case .success(let answer): self = answer
    case .failure(let refusal): self = .failure(CallFailure(refusal))
    }
  }

  fileprivate init(_ result: Result<Void, RequestRefusal>) { self.init(result.map { .done }) }
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
