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
    let found: ScannedRequests
    do { found = try store.scan(order.scan, accepts: order.isFor) } catch { throw RequestRefusal(error) }
    var result = BulkResult()
    result.next = found.next
    let ids = found.records.map(\.id)
    // What an earlier step of a dry run has changed as well is undone by now: a retry takes with it what failed because of it.
    var changed: Set<RequestID> = []
    for start in stride(from: 0, to: ids.count, by: BulkOrder.atOnce) {
      let some = ids[start..<min(start + BulkOrder.atOnce, ids.count)].filter { !changed.contains($0) }
      let step = try await ask {
        if order.isDry {
          self.scheduler.rehearse(order, on: some, completion: $0)
        } else {
          self.scheduler.carryOut(order, on: some, completion: $0)
        }
      }
      if order.isDry { changed.formUnion(step.done) } else { result.done += step.done }
      result.matched += step.matched
      result.changes += step.changes
      result.refused += step.refused
    }
    return result
  }
}
