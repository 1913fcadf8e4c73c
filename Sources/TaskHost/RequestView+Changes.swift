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

  /// Cancels a request by this change, or asks the host of the fleet that has it to stop it.
  func cancel(
    _ id: RequestID, _ change: SchedulerChange<RequestRecord>,
    completion: @escaping @Sendable (Result<RequestRecord, RequestRefusal>) -> Void
  ) {
    do throws(StoreError) {
      if let record = try stopElsewhere(id) { return completion(.success(record)) }
    } catch { return completion(.failure(RequestRefusal(error))) }
    self.change(id, change, completion: completion)
  }

  /// Asks the host of the fleet that has a request to stop it, or whoever has it after that; nil if no other host has it.
  private func stopElsewhere(_ id: RequestID) throws(StoreError) -> RequestRecord? {
    guard let fleet = try fleetThatHas(id), var record = try request(id), record.state == .running else { return nil }
    let isAsked = try fleet.read { (session) throws(FleetError) in try session.stop(id) }
    record.stopRequested = .cancelled
    return isAsked ? record : nil
  }

  /// Cancels the waiting requests of these identifiers on behalf of a run. Runs in progress continue, and what a host of the fleet is about
  /// to begin begins.
  ///
  /// - Parameter completion: Gets the number of cancelled requests.
  func cancelPending(
    of identifiers: [TaskIdentifier], onBehalfOf run: RunReference, completion: @escaping @Sendable (Result<Int, RequestRefusal>) -> Void
  ) {
    let here = SchedulerChange.cancelPending(of: identifiers).onBehalf(of: run)
    guard shares(identifiers) else { return scheduler.perform(here, completion: completion) }
    Task {
      do throws(RequestRefusal) {
        let count = try await ask { scheduler.perform(here, completion: $0) }
        completion(.success(count + (try await cancelPendingElsewhere(of: identifiers, onBehalfOf: run))))
      } catch { completion(.failure(error)) }
    }
  }

  /// Cancels the waiting requests of these identifiers that no host of the fleet has.
  private func cancelPendingElsewhere(of identifiers: [TaskIdentifier], onBehalfOf run: RunReference) async throws(RequestRefusal) -> Int {
    guard let fleet else { return 0 }
    // Newest first: what waits for another is cancelled before that one, and counts.
    var scan = Self.waiting(of: identifiers, after: nil, limit: BulkOrder.atOnce)
    scan.oldestFirst = false
    var count = 0
    repeat {
      let found = try read { () throws(StoreError) in
        try fleet.read { [scan] (session) throws(FleetError) in try session.scan(scan) { !$0.request.isSchedule } }
      }
      if !found.records.isEmpty {
        count += try await ask { completion in
          fleet.agent.add(
            FleetErrand(.some(found.records.map(\.id))) {
              .cancelPending($0).onBehalf(of: run)
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

/// What clients and plugins are told if reading fails.
func read<Value>(_ body: () throws(StoreError) -> Value) throws(RequestRefusal) -> Value {
  do { return try body() } catch { throw RequestRefusal(error) }
}

/// Waits for an answer without blocking the thread.
func ask<Value: Sendable>(
  _ body: (@escaping @Sendable (Result<Value, RequestRefusal>) -> Void) -> Void
) async throws(RequestRefusal) -> Value {
  let result = await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
  return try result.get()
}
