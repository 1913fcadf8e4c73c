import StrictText
public import TaskModel

/// Who changed what, when and from where.
public enum AuditPage {
  /// - Parameters:
  ///   - lines: Entries as the API gives them, newest first.
  ///   - since: From when on, as it was typed.
  ///   - next: Where the next page begins, as its parameter `before` takes it; nil on the last page.
  ///   - isFirst: Whether this is the first page.
  public static func make(_ lines: [[UInt8]], since: String, next: String?, isFirst: Bool, now: WallTime) -> Page {
    let rows = lines.compactMap { line in (try? JSONReader.read(line)).map { row($0, now) } }
    func path(_ before: String?) -> String {
      PagePath.query(Page.Section.audit.path, ["since": since.isEmpty ? nil : since, "before": before])
    }
    let list: View? = rows.isEmpty ? nil : ["rows": rows]
    let empty =
      if !isFirst { "There is nothing older." } else if since.isEmpty { "Nobody has changed anything yet." } else {
        "Nobody has changed anything since then."
      }
    let pager = ListPages.pager(first: isFirst ? nil : path(nil), next: next.map { path($0) })
    return Page("Audit", in: .audit, "audit", ["since": since, "list": list, "empty": empty, "pager": pager], now: now)
  }

  /// The page with a moment that cannot be read.
  public static func flaw(_ message: String, since: String, now: WallTime) -> Page {
    let values: View = [
      "since": since, "flaw": FailurePage.sentence(message), "empty": "Nothing is listed until the moment is right.",
    ]
    return Page("Audit", in: .audit, "audit", values, now: now, changes: nil)
  }

  /// Ids that a row shows; the audit names up to 50.
  private static let shownIDs = 3

  private static func row(_ entry: JSONNode, _ now: WallTime) -> View {
    let time = entry["time_unix_ms"]?.integer.flatMap { View(time: WallTime(unixMilliseconds: $0), now: now) }
    let ids = entry["ids"]?.array?.compactMap(\.string) ?? []
    let count = entry["count"]?.integer ?? Int64(ids.count)
    let shown = ids.prefix(shownIDs).map { id -> View in ["id": id] }
    let rest = count > Int64(shown.count) ? (shown.isEmpty ? "\(count) in all" : "and \(count - Int64(shown.count)) more") : nil
    let process = entry["process_id"]?.integer.map { "process \($0)" }
    return [
      "time": time, "number": entry["number"]?.integer.map { "\($0)" }, "by": entry["by"]?.string,
      "from": [entry["from"]?.string, process].compactMap(\.self).joined(separator: ", "), "operation": entry["operation"]?.string,
      "target": ForeignText.short(entry["target"]?.string), "ids": shown, "rest": rest,
    ]
  }
}
