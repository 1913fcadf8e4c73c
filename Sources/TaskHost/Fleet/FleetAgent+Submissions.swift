import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// What is submitted to the fleet at this host.

extension FleetAgent {
  /// Submits requests to the fleet, all or none.
  func submit(_ requests: [TaskRequest], completion: @escaping @Sendable (Result<[Submission], RequestRefusal>) -> Void) {
    guard !requests.contains(where: \.dependsOnOthers) else {
      do throws(RequestRefusal) { for request in requests { try request.checkSharedKey() } } catch { return completion(.failure(error)) }
      return add(FleetErrand(submitting: requests, completion: completion))
    }
    scheduler.draft(requests, fleet: place.origin) { [self] in add($0, of: requests, completion: completion) }
  }

  /// Submits a request of a run to the fleet.
  func submit(
    _ given: TaskRequest, from run: RunReference, by plugin: TaskIdentifier,
    completion: @escaping @Sendable (Result<Submission, RequestRefusal>) -> Void
  ) {
    let request: TaskRequest
    do throws(RequestRefusal) { request = try given.naming(plugin) } catch { return completion(.failure(error)) }
    guard !request.dependsOnOthers else {
      var errand = FleetErrand(.submission([request])) { _ in
        .submit(request, by: plugin).onBehalf(of: run)
      } completion: {
        completion($0)
      }
      errand.plugin = plugin
      return add(errand)
    }
    scheduler.draft(request, from: run, by: plugin, fleet: place.origin) { [self] draft in
      add(draft.map { [$0] }, of: [request], by: plugin) { completion(Self.first(of: $0)) }
    }
  }

  /// Submits to the fleet what was checked before.
  func submit(_ submission: FleetSubmission, completion: @escaping @Sendable (Result<Submission, RequestRefusal>) -> Void) {
    add(.success([submission]), of: [submission.record.request]) { completion(Self.first(of: $0)) }
  }

  private static func first(of submissions: Result<[Submission], RequestRefusal>) -> Result<Submission, RequestRefusal> {
    submissions.flatMap { $0.first.map { .success($0) } ?? .failure(RequestRefusal(.unavailable, "the fleet gave no answer")) }
  }

  private func add(
    _ drafts: Result<[FleetSubmission], RequestRefusal>, of requests: [TaskRequest], by plugin: TaskIdentifier? = nil,
    completion: @escaping @Sendable (Result<[Submission], RequestRefusal>) -> Void
  ) {
    do throws(RequestRefusal) {
      let arrival = Arrival(requests, try drafts.get(), by: plugin, completion: completion)
      try queue(arrival, in: \.arrivals, submits: true)
      let isOffered = state.withLock { state in
        // What many clients submit while the other thread adds some waits for it, and goes together.
        let isAlone = state.sending != .submissions && state.arrivals.count == 1 && requests.count == 1
        if state.isIdle, isAlone, !arrival.hasKeys { state.isOffered = true }
        return state.isOffered
      }
      if isOffered { wakeForWork() } else { state.broadcast() }
    } catch { completion(.failure(error)) }
  }
}
