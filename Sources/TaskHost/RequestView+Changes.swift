import FleetStore
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
    guard let elsewhere else { return scheduler.perform(change, completion: completion) }
    var errand = FleetErrand(.all([id])) { _ in
      change
    } completion: {
      completion($0)
    }
    errand.revives = revives
    elsewhere.agent.add(errand)
  }

  /// Cancels a request, or asks the host of the fleet that has it to stop it.
  func cancel(_ id: RequestID, completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void) {
    do throws(StoreError) {
      if let record = try stopElsewhere(id) { return completion(.success(record)) }
    } catch { return completion(.failure(RequestRefusal(error))) }
    change(id, .cancel(id), completion: completion)
  }

  /// Asks the host of the fleet that has a request to stop it, or whoever has it after that; nil if no other host has it.
  private func stopElsewhere(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    guard let fleet = try fleetThatHas(id), var record = try request(id), record.state == .running else { return nil }
    let isAsked = try fleet.read { (session) throws(FleetError) in try session.stop(id) }
    record.stopRequested = .cancelled
    return isAsked ? record : nil
  }

  /// Cancels the waiting requests of these identifiers on behalf of a run. Runs in progress continue, and what a host of the fleet is about
  /// to begin begins. Blocks until all is durable.
  ///
  /// - Returns: The number of cancelled requests.
  func cancelPending(of identifiers: [TaskIdentifier], onBehalfOf run: RunReference) throws(RequestRefusal) -> Int {
    var count = try awaitAnswer { scheduler.perform(.cancelPending(of: identifiers).onBehalf(of: run), completion: $0) }
    guard let fleet, shares(identifiers) else { return count }
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
