import FleetStore
import HostThreads
import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

// What clients do to requests: to those of the host, and to those of its fleet, wherever these are. Changes are durable when a call returns.

extension Host {
  /// Submits all requests, or none if one is refused.
  public func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    if try isForFleet(requests), let fleet { return try await ask { fleet.agent.submit(requests, completion: $0) } }
    return try await ask { self.scheduler.perform(.submit(requests), completion: $0) }
  }

  /// The same, but while the fleet's database is away, the host keeps what is for the fleet.
  public func submitOrPark(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    guard try isForFleet(requests), let fleet else { return try await submit(requests) }
    var named = requests
    // The database may take it, and its answer be lost: then it is parked, and known there.
    for index in named.indices where named[index].idempotencyKey == nil { named[index].idempotencyKey = FleetParking.newKey() }
    if fleet.agent.trouble == nil {
      do throws(RequestRefusal) { return try await ask { [named] in fleet.agent.submit(named, completion: $0) } } catch {
        guard error.code == .unavailable else { throw error }
      }
    }
    let parked = try await ask { [named] completion in self.scheduler.perform(.park(named), completion: completion) }
    fleet.agent.parking.added()
    fleet.agent.wake()
    return parked
  }

  /// Cancels a request. If it is running, asks the run to stop; the request ends with the run.
  public func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    // A host of the fleet may take it, or give it back, at this moment.
    for _ in 1..<RequestView.mostCancels where fleet?.has(id) == true {
      do throws(RequestRefusal) { return try await cancelOnce(id) } catch {
        guard error.code == .conflict else { throw error }
      }
    }
    return try await cancelOnce(id)
  }

  /// On a thread of its own if the fleet's database is asked, see ``look(_:)``.
  private func cancelOnce(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    guard fleet?.has(id) == true else { return try await ask { view.cancel(id, completion: $0) } }
    return try await onThread { [view] in Result { () throws(RequestRefusal) in try awaitAnswer { view.cancel(id, completion: $0) } } }
  }

  /// Makes a dead letter pending again.
  public func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await change(id, revives: true, .retry(id)) }

  /// Discards a dead letter.
  public func discard(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await change(id, .discard(id)) }

  /// Postpones a pending request to `time`, unless it is due later anyway.
  public func snooze(_ id: RequestID, until time: WallTime) async throws(RequestRefusal) -> SnoozedRequest {
    try await change(id, .snooze(id, until: time))
  }

  /// Holds a live request back until it is resumed, also over restarts.
  public func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord {
    try await change(id, .pause(id, pause))
  }

  /// Lets a paused request go on.
  public func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord { try await change(id, .resume(id)) }

  private func change<Value: Sendable>(
    _ id: RequestID, revives: Bool = false, _ change: SchedulerChange<Value>
  ) async throws(RequestRefusal) -> Value {
    try await ask { view.change(id, revives: revives, change, completion: $0) }
  }

  // MARK: Many

  /// Cancels the live requests with a tag, of an identifier, or both, except those of a `schedule`: first those of the fleet, in parts, then
  /// the host's own, in one commit. If the fleet's database is away, nothing is done.
  ///
  /// - Parameters:
  ///   - after: The last request that the part before has examined.
  ///   - limit: The maximum number of the fleet's requests to examine; nil examines all.
  public func cancelAll(
    tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int?
  ) async throws(RequestRefusal) -> CancelledRequests {
    guard tag != nil || identifier != nil else {
      throw RequestRefusal(.invalid, "name a tag, an identifier or both: everything at once is not cancelled")
    }
    var result = CancelledRequests()
    result.last = after
    repeat {
      do throws(RequestRefusal) {
        let part = try await carryOutInFleet(
          .cancel, tag: tag, identifier: identifier, after: result.last, limit: limit ?? BulkOrder.atOnce)
        result.count += part.done.count
        result.last = part.next
      } catch {
        guard result.count > 0 else { throw error }
        throw RequestRefusal(error.code, "\(error.message); \(result.count) requests are cancelled already", field: error.field)
      }
    } while result.last != nil && limit == nil
    guard result.last == nil else { return result }
    if let tag {
      result.count += try await ask { self.scheduler.cancelAll(tag: tag, identifier: identifier, completion: $0) }
    } else if let identifier {
      result.count += try await ask { self.scheduler.cancelAll(of: identifier, completion: $0) }
    }
    return result
  }

  /// Makes dead letters that match both filters pending again; nil matches all. First those of the fleet, then the host's own, each oldest
  /// first.
  ///
  /// - Parameters:
  ///   - after: Skips ids up to this one, and if it is the host's own, those of the fleet.
  ///   - limit: The maximum number of the identifier's dead letters to examine, of the fleet and of the host's own.
  public func retryAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> RetriedRequests {
    let (shared, own) = try await carryOutInFleetFirst(.retry, tag: tag, identifier: identifier, after: after, limit: limit)
    var result = RetriedRequests()
    (result.retried, result.refused, result.last) = (shared.done, shared.refused, shared.next)
    guard shared.next == nil else { return result }
    let rest = try await ask { self.scheduler.retryAll(identifier: identifier, tag: tag, after: own, limit: limit, completion: $0) }
    result.retried += rest.retried
    result.refused += rest.refused
    result.last = rest.last
    return result
  }

  /// Discards dead letters, selected like those of ``retryAll(identifier:tag:after:limit:)``.
  public func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> DiscardedRequests {
    let (shared, own) = try await carryOutInFleetFirst(.discard, tag: tag, identifier: identifier, after: after, limit: limit)
    var result = DiscardedRequests()
    (result.discarded, result.last) = (shared.done, shared.next)
    guard shared.next == nil else { return result }
    let rest = try await ask { self.scheduler.discardAll(identifier: identifier, tag: tag, after: own, limit: limit, completion: $0) }
    result.discarded += rest.discarded
    result.last = rest.last
    return result
  }

  /// Carries out a part of an action on dead letters in the fleet, unless `after` says that this is done.
  ///
  /// - Returns: Also after which of the host's own the action goes on, once there is nothing more in the fleet.
  private func carryOutInFleetFirst(
    _ action: BulkAction, tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> (shared: BulkResult, own: RequestID?) {
    if let after, fleet?.has(after) != true { return (BulkResult(), after) }
    return (try await carryOutInFleet(action, tag: tag, identifier: identifier, after: after, limit: limit), nil)
  }

  // MARK: Events

  /// Makes the requests due that wait for an event, in the host's fleet too. The caller has checked its name and payload.
  ///
  /// - Parameter payload: Replaces the submitted payload in their runs; nil keeps it.
  public func notify(_ event: String, payload: [UInt8]?) async throws(RequestRefusal) -> EventReceipt {
    try await ask { self.notify(event, payload: payload, completion: $0) }
  }

  /// Like ``notify(_:payload:)``, for a configured socket, which has checked the name and the payload's size. Returns immediately.
  ///
  /// - Parameter recorded: Called once the effect is durable, or with false if it could not be recorded.
  public func notify(_ event: String, payload: [UInt8]?, recorded: @escaping @Sendable (Bool) -> Void) {
    notify(event, payload: payload) { result in
      if case .success = result { recorded(true) } else { recorded(false) }
    }
  }

  private func notify(
    _ event: String, payload: [UInt8]?, completion: @escaping @Sendable (Result<EventReceipt, RequestRefusal>) -> Void
  ) {
    scheduler.notify(event, payload: payload) { [fleet] in fleet.passing($0, of: event, payload: payload, completion: completion) }
  }
}

extension FleetView? {
  /// Passes an event on to the fleet, once the host has recorded what it does here.
  func passing(
    _ result: Result<EventReceipt, RequestRefusal>, of event: String, payload: [UInt8]?,
    completion: @escaping @Sendable (Result<EventReceipt, RequestRefusal>) -> Void
  ) {
    guard case .success(let own) = result, let fleet = self else { return completion(result) }
    let noted = Guarded(0)
    var errand = FleetErrand(.waiting(FleetEvent(name: event, payload: payload))) {
      .wake($0, by: event, payload: payload)
    } adding: {
      $0.adding($1)
    } completion: { result in
      switch result {
      case .success(let shared):
        let all = own.adding(shared).adding(noted.withLock { EventReceipt(event: event, woken: $0, waiting: $0) })
        if all.dropped > 0 { fleet.dropped.withLock { $0 += 1 } }
        completion(.success(all))
      case .failure(var refusal):
        let here = own.woken + own.merged
        if here > 0 {
          let requests = here == 1 ? "1 request of this host is" : "\(here) requests of this host are"
          refusal.message = "\(requests) woken by this event already, and perhaps none of the fleet: \(refusal.message)"
        }
        completion(.failure(refusal))
      }
    }
    errand.heard = .allBefore
    errand.noted = { count in noted.withLock { $0 += count } }
    fleet.agent.add(errand)
  }
}

extension EventReceipt {
  fileprivate func adding(_ other: EventReceipt) -> EventReceipt {
    let all = waiting + other.waiting
    return EventReceipt(
      event: event, woken: woken + other.woken, merged: merged + other.merged, dropped: all == 0 ? 1 : 0, waiting: all)
  }
}
