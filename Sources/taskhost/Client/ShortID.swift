import TaskFilters
import TaskHostClient
import TaskModel

/// Finds the id that a person means: a whole one, an unambiguous beginning, or for a request `IDENTIFIER/KEY`, where the key may be
/// the name of a schedule of the configuration.
enum ShortID {
  /// How many ids an ambiguous beginning is refused with, at most.
  private static let shown = 5

  /// The id of a request. A key means the live request that holds it, else the newest that held it.
  static func request(_ text: String, _ client: ControlClient) async throws -> String {
    if let slash = text.firstIndex(of: "/") {
      let key = text[text.index(after: slash)...]
      // A filter takes patterns here; a person means one identifier.
      guard (try? TaskIdentifier(String(text[..<slash]))) != nil else {
        throw CommandFailure(
          .refused, text, "what stands before the first / is not an identifier", remedy: "write an id, its beginning, or IDENTIFIER/KEY")
      }
      // What the configuration calls so has a key of the host's.
      let keys = [String(key)] + [ScheduleName(text)?.uniqueKey].compactMap(\.self)
      for state in [" state:blocked,pending,running", ""] {
        var found: [String] = []
        for key in keys {
          let filter = "identifier:\(text[..<slash]) key:\(RequestFilter.quoted(key))" + state
          found += try await ids(of: text, RequestPage.self, "/v1/requests", filter, limit: 1, client)
        }
        if let only = found.first, found.count == 1 { return only }
        guard found.isEmpty else {
          throw CommandFailure(
            .refused, text, "a request with this unique key and a schedule are called so: \(found.joined(separator: ", "))",
            remedy: "write the id of the one that you mean")
        }
      }
      throw CommandFailure(.refused, text, "no request of \(text[..<slash]) has the unique key \"\(key)\"")
    }
    return try await id(text, RequestPage.self, "/v1/requests", "request", client)
  }

  /// The id of a run.
  static func run(_ text: String, _ client: ControlClient) async throws -> String {
    try await id(text, RunPage.self, "/v1/runs", "run", client)
  }

  private static func id<Page: ListingPage>(
    _ text: String, _ page: Page.Type, _ path: String, _ kind: String, _ client: ControlClient
  ) async throws -> String {
    if RequestID(text) != nil { return text }
    guard RecordIDPrefix(text) != nil else {
      throw CommandFailure(
        .refused, text, "no id of a \(kind) begins so", remedy: "ids look like 01976c1e-0000-7000-8000-000000000000")
    }
    let found = try await ids(of: text, page, path, "id:\(text)", limit: shown + 1, client)
    guard let only = found.first else { throw CommandFailure(.refused, text, "no \(kind) has an id that begins so") }
    guard found.count > 1 else { return only }
    let more = found.count > shown ? ", …" : ""
    throw CommandFailure(
      .refused, text, "the ids of several \(kind)s begin so: \(found.prefix(shown).joined(separator: ", "))\(more)",
      remedy: "write more of the one that you mean")
  }

  /// The ids of what a filter selects, newest first.
  ///
  /// - Parameter text: What a person has written.
  private static func ids<Page: ListingPage>(
    of text: String, _ page: Page.Type, _ path: String, _ filter: String, limit: Int, _ client: ControlClient
  ) async throws -> [String] {
    var ids: [String] = []
    var next: String?
    repeat {
      let query = [("filter", filter), ("limit", "\(limit)"), ("after", next)]
      let answer = try await client.get(ControlClient.path(path, query)).read(page)
      // Live runs come first, and once more at their place.
      for row in answer.rows where !ids.contains(row.id) { ids.append(row.id) }
      next = answer.next
      if let gap = answer.incomplete, ids.isEmpty { throw CommandFailure(.refused, text, "cannot be looked for: \(gap)") }
    } while next != nil && ids.count < limit
    return ids
  }
}
