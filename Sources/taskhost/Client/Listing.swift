import ArgumentParser
import HostControl

/// A listing that the host answers page by page.
enum Listing {
  /// Rows of a page at most.
  private static let atOnce = 10_000

  /// Asks for rows until there are `limit`, or no more.
  ///
  /// - Parameters:
  ///   - path: With its query, but without limit and cursor.
  ///   - name: The member that has the rows. A row whose `id` was there before is left out.
  ///   - json: Print the host's answers, one a line, and return no rows.
  static func rows(_ client: ControlClient, _ path: String, _ name: String, limit: Int, json: Bool) async throws -> [JSONNode] {
    guard limit > 0 else { throw ValidationError("--limit: write a number from 1.") }
    var rows: [JSONNode] = []
    var seen: Set<String> = []
    var (asked, next) = (0, String?.none)
    repeat {
      let count = min(atOnce, limit - asked)
      let cursor = next.map { "&after=\(ControlClient.escape($0))" } ?? ""
      let answer = try await client.get("\(path)\(path.contains("?") ? "&" : "?")limit=\(count)\(cursor)")
      asked += count
      next = answer.node["next"]?.string
      if json {
        Terminal.print(answer.bytes)
      } else {
        rows += (answer.node[name]?.array ?? []).filter { seen.insert($0["id"]?.string ?? "").inserted }
      }
    } while next != nil && asked < limit
    return rows
  }
}
