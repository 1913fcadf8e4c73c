import TaskFilters
public import TaskModel

extension SchedulerCore {
  /// Carries out a bulk action on those of `ids` that it is for now; others have changed since they were found. One refusal stops no other.
  ///
  /// A dry run takes this way too, and is undone by the caller. It counts a request that is handed out ahead among those that change, since
  /// only the action itself may take it back.
  func carryOut(
    _ order: BulkOrder, on ids: [RequestID], _ transaction: any StoreTransaction, now: WallTime
  ) throws -> BulkResult {
    var result = BulkResult()
    for id in ids {
      guard var record = try transaction.request(id) else { continue }
      if order.filter.scan.readsPayload { record.request.payload = try legiblePayload(of: id, transaction) ?? [] }
      guard order.isFor(record) else { continue }
      result.matched += 1
      // A refusal comes before any change, or where there is none, so nothing must be undone.
      do {
        switch order.action {
        case .retry: result.done += try redrive(id, transaction, now: now)
        case .discard: result.done.append(try discard(id, transaction, now: now).id)
        case .snooze:
          let snoozed = try snooze(id, until: order.until ?? now, transaction, now: now)
          guard snoozed.record.due != record.due else {
            throw RequestRefusal(
              .conflict, "it is not postponed: " + (snoozed.notes.last ?? "it waits until then already"),
              reason: snoozed.notes.isEmpty ? "it waits until then already" : "its own time or its next occurrence decides")
          }
          result.done.append(id)
        case .cancel:
          try record.checkBulkCancel()
          result.done.append(try cancel(id, transaction, now: now).id)
        }
      } catch is ClaimedAhead where order.isDry {
        result.done.append(id)
      } catch let refusal as RequestRefusal {
        result.refused.append(RetriedRequests.Refused(id: id, refusal))
      }
    }
    result.changes = result.done.count
    return result
  }
}

extension RequestRecord {
  /// Refuses the request of a `schedule`: it belongs to the operator, and many are not cancelled by accident.
  public func checkBulkCancel() throws(RequestRefusal) {
    guard let name = request.scheduleName else { return }
    throw RequestRefusal(
      .conflict,
      "it stands for the schedule of \(name) in the configuration: remove that line, or cancel it by its id",
      reason: "it stands for a schedule in the configuration")
  }
}
