import ArgumentParser

/// An answer that may have more after it.
protocol PagedAnswer: Decodable {
  /// What to send as `after` to have what comes next; nil: nothing does.
  var next: String? { get }
}

/// A page of a listing.
protocol ListingPage: PagedAnswer {
  associatedtype Row: Identifiable<String>

  var rows: [Row] { get }
}

/// A listing that the host answers page by page.
enum Listing {
  /// Of a page that is passed on, all that is read.
  private struct Rest: PagedAnswer {
    let next: String?
  }

  /// Rows of a page at most.
  private static let atOnce = 10_000

  /// Asks for rows until there are `limit`, or no more. A row whose id was there before is left out.
  ///
  /// - Parameters:
  ///   - path: With its query, but without limit and cursor.
  ///   - json: Print the host's answers, one a line, and return no rows.
  static func rows<Page: ListingPage>(
    _ client: ControlClient, _ path: String, of page: Page.Type, limit: Int, json: Bool
  ) async throws -> [Page.Row] {
    guard limit > 0 else { throw ValidationError("--limit: write a number from 1.") }
    var rows: [Page.Row] = []
    var seen: Set<String> = []
    var (asked, next) = (0, String?.none)
    repeat {
      let count = min(atOnce, limit - asked)
      let cursor = next.map { "&after=\(ControlClient.escape($0))" } ?? ""
      let answer = try await client.get("\(path)\(path.contains("?") ? "&" : "?")limit=\(count)\(cursor)")
      asked += count
      if json {
        Terminal.print(answer.bytes)
        next = try answer.read(Rest.self).next
      } else {
        let page = try answer.read(page)
        next = page.next
        rows += page.rows.filter { seen.insert($0.id).inserted }
      }
    } while next != nil && asked < limit
    return rows
  }
}
