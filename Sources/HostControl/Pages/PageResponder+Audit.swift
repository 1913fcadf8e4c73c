import Dashboard
import NIOHTTP1
import TaskModel

/// The page of the audit.
extension PageResponder {
  func audit(_ query: PageQuery, rows: Int) async throws -> ControlResponse {
    guard let log = api.audit else { throw RequestRefusal(.unsupported, "this host records no audit") }
    let typed = try query.text("since") ?? ""
    let since: WallTime?
    do { since = try query.moment("since", direction: -1) } catch {
      return try page(AuditPage.flaw(error.message, since: typed, now: now), query, status: .badRequest)
    }
    let before = try query.auditNumber("before")
    let found = try await log.read(before: before, since: since, limit: rows)
    let next = found.count < rows ? nil : found.last.map { "\($0.number)" }
    return try page(AuditPage.make(found.map(\.line), since: typed, next: next, isFirst: before == nil, now: now), query)
  }
}

extension PageQuery {
  /// The number of an entry of the audit; nil if absent.
  fileprivate func auditNumber(_ name: String) throws(RequestRefusal) -> Int64? {
    guard let text = try text(name) else { return nil }
    guard let number = Int64(text), number > 0 else {
      throw RequestRefusal(.invalid, "\(name): the number of an entry is expected, as in the link to the next page", field: name)
    }
    return number
  }
}
