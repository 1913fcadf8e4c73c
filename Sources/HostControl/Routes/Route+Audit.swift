import NIOHTTP1
import TaskModel

/// The record of all changes.
extension Route {
  static let audit: [Route] = [
    Route(
      .GET, "/v1/audit", "listAudit", "Lists who changed what, oldest first", role: .operate,
      query: [
        .since, .limit(ControlResponder.auditPreset),
        QueryParameter("after", "The page after this one: what next said.", .integer(0...Int64.max)),
      ],
      answers: .page("entries", of: .auditEntry)
    ) { try await $0.listAudit($1.query) }.ofHost()
  ]
}
