import FleetStore
import HostThreads
import TaskFilters
import TaskModel
import TaskScheduler

extension RequestView {
  /// Changes a request, wherever it is. Blocks only to read; `completion` is called on any thread, once the change is durable, or refused.
  ///
  /// - Parameter revives: See ``FleetErrand/revives``.
  func change<Value: Sendable>(
    _ id: RequestID, revives: Bool = false, _ change: SchedulerChange<Value>,
    completion: @escaping @Sendable (Result<Value, RequestRefusal>) -> Void
  ) {
    let elsewhere: FleetView?
    do throws(StoreError) { elsewhere = try fleetThatHas(id) } catch { return completion(.failure(RequestRefusal(error))) }
    let add: @Sendable (FleetAgent) -> Void = { agent in
      var errand = FleetErrand(.all([id])) { _ in
        change
      } completion: {
        completion($0)
      }
      errand.revives = revives
      agent.add(errand)
    }
    if let elsewhere { return add(elsewhere.agent) }
    guard let fleet, fleet.has(id) else { return scheduler.perform(change, completion: completion) }
    fleet.agent.change(id, change) { [agent = fleet.agent] result in
      // It may have gone back before its turn came.
      if case .failure(let refusal) = result, refusal.code == .notFound { add(agent) } else { completion(result) }
    }
  }

  /// Cancels a request. One of the fleet that a host has ends as soon as that host, or whoever has it after that, learns of it.
  func cancel(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    guard let fleet, fleet.has(id) else { return change(id, .cancel(id), completion: completion) }
    do throws(StoreError) {
      // What is here stops while the database is told, which may take a while. The answer waits for that.
      let asked = try held.request(id)?.state == .running ? Awaited<Result<RequestRecord, RequestRefusal>>() : nil
      if let asked { fleet.agent.cancelHeld(id) { asked.set($0) } }
      guard try stop(id, fleet), var record = try request(id) else {
        // It may have ended by that, which the database knows by now.
        if let asked, try held.request(id) == nil, case .success(let cancelled) = asked.wait() { return completion(.success(cancelled)) }
        return change(id, .cancel(id), completion: completion)
      }
      if !record.state.isFinal { record.stopRequested = .cancelled }
      // If this host has it, that is the first to know; if it has just ended here, the database knows.
      fleet.agent.cancelHeld(id) { [record] in completion(.success((try? $0.get()) ?? record)) }
    } catch { completion(.failure(RequestRefusal(error))) }
  }

  /// Cancels a request of the fleet, which a host may take, or give back, at this moment. Blocks.
  ///
  /// - Throws: `notFound` if it has ended meanwhile.
  func cancelOfFleet(_ id: RequestID) throws(RequestRefusal) -> RequestRecord {
    for _ in 0..<Self.mostCancels {
      do throws(RequestRefusal) { return try awaitAnswer { cancel(id, completion: $0) } } catch {
        guard error.code == .conflict else { throw error }
        let record = try read { () throws(StoreError) in try request(id) }
        guard record?.state.isFinal == false else { throw RequestRefusal(.notFound, error.message) }
      }
    }
    throw RequestRefusal(.unavailable, "request \(id) goes from host to host: try again")
  }
  static let mostCancels = 4

  /// Notes in the fleet's database that a request is cancelled which a host has, so that the loss of that host does not bring it back.
  ///
  /// - Returns: Whether a host has it, and that is noted. If the database is away, what this host has is cancelled here.
  private func stop(_ id: RequestID, _ fleet: FleetView) throws(StoreError) -> Bool {
    do throws(StoreError) { return try fleet.read { (session) throws(FleetError) in try session.stop(id) } } catch {
      guard try held.request(id) != nil else { throw error }
      return false
    }
  }

  /// Cancels the waiting requests of these identifiers on behalf of a run. Runs in progress continue, and what a host of the fleet is about
  /// to begin begins. Blocks until all is durable.
  ///
  /// - Returns: The number of cancelled requests.
  func cancelPending(of identifiers: [TaskIdentifier], onBehalfOf run: RunReference) throws(RequestRefusal) -> Int {
    var count = try awaitAnswer { scheduler.perform(.cancelPending(of: identifiers).onBehalf(of: run), completion: $0) }
    guard let fleet, shares(identifiers) else { return count }
    // What the host held and holds no more was cancelled, or is on its way back anyway.
    var gone: Set<RequestID> = []
    for id in fleet.agent.handedOver() where try read({ () throws(StoreError) in try held.request(id) }) == nil { gone.insert(id) }
    try awaitAnswer { completion in
      fleet.agent.whenRecorded(gone) { refusal in completion(refusal.map { .failure($0) } ?? .success(())) }
    }
    // Newest first: what waits for another is cancelled before that one, and counts.
    var scan = Self.waiting(of: identifiers, after: nil, limit: BulkOrder.atOnce)
    scan.oldestFirst = false
    repeat {
      let found = try read { () throws(StoreError) in
        try fleet.read { [scan] (session) throws(FleetError) in try session.scan(scan) { !$0.request.isSchedule } }
      }
      if !found.records.isEmpty {
        count += try awaitAnswer { completion in
          fleet.agent.add(
            FleetErrand(.some(found.records.map(\.id))) {
              .cancelPending($0).onBehalf(of: run)
            } adding: {
              $0 + $1
            } completion: {
              completion($0)
            })
        }
      }
      scan.after = found.next
    } while scan.after != nil
    return count
  }
}
