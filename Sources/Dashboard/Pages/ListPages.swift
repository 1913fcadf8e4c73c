public import TaskFilters
public import TaskModel

/// The lists of requests and of runs, with their filters.
public enum ListPages {
  /// The requests that match a filter.
  ///
  /// - Parameters:
  ///   - next: Where the next page begins, as its parameter `after` takes it; nil on the last page.
  ///   - isFirst: Whether this is the first page.
  public static func requests(
    _ records: [RequestRecord], filter: String, next: String?, isFirst: Bool, now: WallTime
  ) -> Page {
    let values: View = [
      "filter": filter, "bulk": bulk(filter), "list": View(requests: records, caption: "Requests, newest first", now: now),
      "empty": empty(filter, "request", mayGoOn: next != nil),
      "pager": pager(first: isFirst ? nil : PagePath.requests(filter), next: next.map { PagePath.requests(filter, after: $0) }),
    ]
    return Page("Requests", in: .requests, "requests", values, now: now)
  }

  /// The runs that match a filter.
  public static func runs(_ runs: [RunRecord], filter: String, next: String?, isFirst: Bool, now: WallTime) -> Page {
    func path(_ after: String?) -> String {
      PagePath.query("/ui/runs", ["filter": filter.isEmpty ? nil : filter, "after": after])
    }
    let values: View = [
      "filter": filter, "list": View(runs: runs, caption: "Runs, live ones first, then newest first", namesTask: true, now: now),
      "empty": empty(filter, "run", mayGoOn: next != nil), "pager": pager(first: isFirst ? nil : path(nil), next: next.map { path($0) }),
    ]
    return Page("Runs", in: .runs, "runs", values, now: now)
  }

  /// The list with a filter that cannot be read: what is wrong, and where.
  ///
  /// - Parameter section: Requests or runs.
  public static func flaw(_ error: FilterError, in filter: String, of section: Page.Section, now: WallTime) -> Page {
    // The mark stands below the character: so the filter is on one line, and each scalar one column wide.
    let line = String(String.UnicodeScalarView(filter.unicodeScalars.map { $0.isASCII && $0.value >= 0x20 ? $0 : "?" }))
    let mark = String(repeating: " ", count: max(0, min(error.position - 1, line.count))) + "^"
    let values: View = [
      "filter": filter, "flaw": ["text": "The filter cannot be read \(error)", "marked": Lines("\(line)\n\(mark)")] as View,
      "empty": "Nothing is listed until the filter is right.",
    ]
    return Page(section.label, in: section, section.rawValue, values, now: now, changes: nil)
  }

  private static func bulk(_ filter: String) -> View? { filter.isEmpty ? nil : ["filter": filter] }

  private static func empty(_ filter: String, _ kind: String, mayGoOn: Bool) -> String {
    if mayGoOn { return "No \(kind) here matches yet: the next page goes on." }
    return filter.isEmpty ? "There is no \(kind) yet." : "No \(kind) matches this filter."
  }

  static func pager(first: String?, next: String?) -> View? { first == nil && next == nil ? nil : ["first": first, "next": next] }
}
