public import TaskFilters
public import TaskModel
import TaskScheduler
import TaskStore

extension Host {
  /// Carries out a part of a bulk action, in commits of ``BulkOrder/atOnce`` requests between which everything else goes on. Each commit is
  /// durable: if the host ends meanwhile, the same order goes on with the rest.
  public func carryOut(_ order: BulkOrder) async throws(RequestRefusal) -> BulkResult {
    let found: ScannedRequests
    do { found = try store.scan(order.scan, accepts: order.isFor) } catch { throw RequestRefusal(error) }
    var result = BulkResult()
    result.next = found.next
    guard !order.isDry else {
      result.matched = found.records.count
      return result
    }
    let ids = found.records.map(\.id)
    for start in stride(from: 0, to: ids.count, by: BulkOrder.atOnce) {
      let some = Array(ids[start..<min(start + BulkOrder.atOnce, ids.count)])
      let step = try await ask { self.scheduler.carryOut(order, on: some, completion: $0) }
      result.matched += step.matched
      result.done += step.done
      result.refused += step.refused
    }
    return result
  }
}
