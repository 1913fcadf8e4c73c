import StrictText
import TaskModel

/// The audit.
extension ControlResponder {
  /// Entries of a page by default.
  static let auditPreset = 100

  /// `GET /v1/audit?since=T&after=12&limit=100`, oldest first. If the answer has `next`, there may be more: send it as `after`.
  func listAudit(_ parameters: QueryParameters) async throws -> ControlResponse {
    let limit = min(1000, try parameters.limit(preset: Self.auditPreset))
    let (after, since) = (try parameters.auditNumber(), try parameters.moment("since"))
    guard let audit else { throw RequestRefusal(.unsupported, "this host records no audit") }
    let found = try await audit.read(after: after, since: since, limit: limit)
    return .json(capacity: 64 + found.count * 400) { writer in
      writer.name("entries")
      writer.beginArray()
      for entry in found { writer.raw(entry.line) }
      writer.endArray()
      if found.count == limit { writer.member("next", found.last.map { "\($0.number)" }) }
    }
  }
}

extension QueryParameters {
  /// `after`: the number of an entry; 0 if absent.
  fileprivate func auditNumber() throws(RequestRefusal) -> Int64 {
    guard let text = try one("after") else { return 0 }
    guard let number = Int64(text), number >= 0 else {
      throw RequestRefusal(.invalid, "after: the number of an entry is expected, which next said", field: "after")
    }
    return number
  }
}
