import FleetStore
import HostThreads
public import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

extension Host {
  /// Carries out a part of a bulk action, in commits of ``BulkOrder/atOnce`` requests between which everything else goes on. Each commit is
  /// durable: if the host ends meanwhile, the same order goes on with the rest.
  ///
  /// A dry run is the same action, undone after each commit. Its steps know of each other only what they have changed: of two dead letters
  /// with one unique key in different steps, both count.
  public func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult {
    let found = try await look { (view) throws(StoreError) in try view.scan(order.scan, isWhole: true, accepts: order.isFor) }
    var result = try await carryOutInFleet(order, on: found.records)
    result.next = found.next
    let ids = found.records.map(\.id).filter { fleet?.has($0) != true }
    // What an earlier step of a dry run has changed as well is undone by now: a retry takes with it what failed because of it.
    var changed: Set<RequestID> = []
    for start in stride(from: 0, to: ids.count, by: BulkOrder.atOnce) {
      let some = ids[start..<min(start + BulkOrder.atOnce, ids.count)].filter { !changed.contains($0) }
      var step = try await ask {
        if order.isDry {
          self.scheduler.rehearse(order, on: some, completion: $0)
        } else {
          self.scheduler.perform(.bulk(order, on: some), completion: $0)
        }
      }
      if order.isDry {
        changed.formUnion(step.done)
        step.done = []
      }
      result.add(step)
    }
    return result
  }

  /// The same for requests of the host's fleet, of which other hosts may have some. A dry run counts what it finds.
  private func carryOutInFleet(_ order: BulkOrder, on records: [RequestRecord]) async throws(RequestRefusal) -> BulkResult {
    var result = BulkResult()
    guard let fleet else { return result }
    let shared = records.filter { fleet.has($0.id) }
    if order.isDry { (result.matched, result.changes) = (shared.count, shared.count) }
    guard !shared.isEmpty, !order.isDry else { return result }
    // First what waits: it would begin where a run is stopped.
    let waiting = shared.filter { $0.state != .running }.map(\.id)
    for start in stride(from: 0, to: waiting.count, by: BulkOrder.atOnce) {
      let some = Array(waiting[start..<min(start + BulkOrder.atOnce, waiting.count)])
      let step = try await ask { completion in
        var errand = FleetErrand(.some(some)) {
          .bulk(order, on: $0)
        } adding: {
          var sum = $0
          sum.add($1)
          return sum
        } completion: {
          completion($0)
        }
        errand.revives = order.action == .retry
        fleet.agent.add(errand)
      }
      result.add(step)
    }
    // What runs, if that is meant too, and what a host has.
    let seen = Set(result.done + result.refused.map(\.id))
    for id in order.action == .cancel ? shared.map(\.id) : waiting where !seen.contains(id) {
      // It may be another one by now than the one that was meant.
      let now = try await look { (view) throws(StoreError) in try view.request(id) }
      guard let now, order.isFor(now) else { continue }
      result.matched += 1
      do throws(RequestRefusal) {
        if order.action == .cancel { try now.checkBulkCancel() }
        try await carryOut(order, on: id)
        result.done.append(id)
        result.changes += 1
      } catch { result.refused.append(RetriedRequests.Refused(id: id, error)) }
    }
    return result
  }

  private func carryOut(_ order: BulkOrder, on id: RequestID) async throws(RequestRefusal) {
    switch order.action {
    case .cancel: _ = try await cancel(id)
    case .retry: _ = try await retry(id)
    case .discard: _ = try await discard(id)
    case .snooze: _ = try await snooze(id, until: order.until ?? .distantPast)
    }
  }

  /// Carries out a part of an action on the requests of the host's fleet with this tag, identifier, or both. Refused if the fleet's database
  /// cannot be asked, unless the fleet has none of this identifier.
  ///
  /// - Parameters:
  ///   - after: The last request that the part before has looked at; nil begins with the first one.
  ///   - limit: The maximum number of requests in this part.
  func carryOutInFleet(
    _ action: BulkAction, tag: String?, identifier: TaskIdentifier?, after: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> BulkResult {
    guard fleet != nil else { return BulkResult() }
    var query = RequestQuery()
    (query.tag, query.identifier) = (tag, identifier)
    let now = SystemClock().wallTime
    var filter = try RequestFilter(query, now: now)
    if filter.selectsAll {
      do throws(FilterError) { filter = try RequestFilter("identifier:*", now: now) } catch { throw error.refusal(field: "identifier") }
    }
    let order = try BulkOrder(action, filter, after: after, limit: limit)
    let found = try await look { (view) throws(StoreError) in
      try view.scanFleet(order.scan, isWhole: true) { order.isFor($0) && !$0.request.isSchedule }
    }
    var result = try await carryOutInFleet(order, on: found?.records ?? [])
    result.next = found?.next
    return result
  }
}
