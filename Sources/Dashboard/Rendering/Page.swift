import StrictText
import TaskModel

/// A page before it is rendered.
public struct Page {
  /// The entries of the navigation.
  public enum Section: String, CaseIterable, Sendable {
    case overview, requests, tasks, runs, plugins, conditions, forecast, transfers, pauses, assertions, audit

    var label: String { self == .tasks ? "Schedules" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    var path: String { self == .overview ? "/" : "/ui/\(rawValue)" }
  }

  /// What the title bar says.
  let title: String
  /// The page's place in the navigation; nil if it has none.
  let section: Section?
  let template: String
  let values: View
  /// When it was made.
  let now: WallTime
  /// Where a stream tells that the page is out of date; nil if it never is.
  var changes: String?

  init(_ title: String, in section: Section?, _ template: String, _ values: View, now: WallTime, changes: String? = PagePath.changes) {
    (self.title, self.section, self.template, self.values, self.now, self.changes) = (title, section, template, values, now, changes)
  }
}
