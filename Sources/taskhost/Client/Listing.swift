import ArgumentParser
import TaskHostClient
import TaskModel

/// An answer that further pages may follow.
protocol PagedAnswer: Decodable {
  /// The value of `after` for the next page; nil if there is none.
  var next: String? { get }
}

/// A page of a listing.
protocol ListingPage: PagedAnswer {
  associatedtype Row: Identifiable<String>

  var rows: [Row] { get }
  /// Why the host could not list all; nil if it could.
  var incomplete: String? { get }
}

extension ListingPage {
  var incomplete: String? { nil }
}

/// Reads answers that the host gives page by page.
enum Listing {
  /// Asks for rows until there are `limit`, or no more. Omits rows whose id has already appeared. With `--json` it prints the answers
  /// instead.
  ///
  /// - Parameter atOnce: The maximum number of rows per page.
  static func rows<Page: ListingPage>(
    of page: Page.Type, _ path: String, _ query: [(String, String?)], atOnce: Int = 10_000, limit: Int, _ host: HostOptions
  ) async throws -> [Page.Row] {
    guard limit > 0 else { throw ValidationError("--limit: write a number of at least 1.") }
    let client = try host.client()
    var rows: [Page.Row] = []
    var seen: Set<String> = []
    var (listed, next, gap) = (0, String?.none, String?.none)
    repeat {
      let count = min(atOnce, limit - listed)
      let answer = try await client.send("GET", ControlClient.path(path, query + [("limit", "\(count)"), ("after", next)]))
      if host.json { Terminal.print(answer.bytes) }
      let page = try answer.read(page)
      // With a filter, a page may be short, and still not the last one.
      listed += page.rows.count
      if !host.json { rows += page.rows.filter { seen.insert($0.id).inserted } }
      next = page.next
      gap = gap ?? page.incomplete
    } while next != nil && listed < limit
    if let gap { Terminal.note("! \(gap.escapingControlCharacters)") }
    return rows
  }

  /// Asks for page after page, and prints them with `--json`.
  ///
  /// - Parameters:
  ///   - atOnce: The maximum number of rows per page.
  ///   - prints: Whether the answers are printed with `--json`.
  static func pages<Page: PagedAnswer>(
    of page: Page.Type, _ method: String, _ path: String, _ query: [(String, String?)], atOnce: Int,
    _ host: HostOptions, prints: Bool = true, _ body: (Page) -> Void
  ) async throws {
    let client = try host.client()
    var next: String?
    repeat {
      let answer = try await client.send(method, ControlClient.path(path, query + [("limit", "\(atOnce)"), ("after", next)]))
      if host.json, prints { Terminal.print(answer.bytes) }
      let page = try answer.read(page)
      body(page)
      next = page.next
    } while next != nil
  }
}
