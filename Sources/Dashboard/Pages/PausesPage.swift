public import TaskModel

/// What operators hold back by filter, and the form that holds more.
public enum PausesPage {
  /// What was typed into the form, by the names of its inputs.
  public typealias Typed = [String: String]

  /// The inputs of the form. `selection` is ``everything`` or ``byFilter``: a pause of everything is chosen, never left over.
  public static let inputs = ["selection", "filter", "until", "why"]
  /// The choice of everything.
  public static let everything = "everything"
  /// The choice of what the filter selects.
  public static let byFilter = "filter"

  /// The page, with the oldest pause first.
  ///
  /// - Parameter flaw: Why the last try was refused.
  public static func make(_ pauses: [Pause], typed: Typed = [:], flaw: String? = nil, now: WallTime) -> Page {
    let rows = pauses.map { row($0, now) }
    let all: View? = rows.count > 1 ? View(button: "Resume all", "\(Page.Section.pauses.path)/resume", of: "pauses") : nil
    let list: View? = rows.isEmpty ? nil : ["rows": rows, "all": all]
    let form: View = [
      "flaw": flaw.map(FailurePage.sentence), "isEverything": typed["selection"] == everything, "filter": typed["filter"],
      "until": typed["until"], "why": typed["why"],
    ]
    return Page("Pauses", in: .pauses, "pauses", ["list": list, "form": form], now: now)
  }

  private static func row(_ pause: Pause, _ now: WallTime) -> View {
    let (filter, path) = (pause.order.filter, Page.Section.pauses.path)
    let until: View? = View(time: pause.order.until, now: now).map { ["time": $0] }
    let since: View = ["time": View(time: pause.since, now: now)]
    let isOfFleet = pause.order.isOfFleet
    let badge: View? =
      filter.isEmpty
      ? View(badge: isOfFleet ? pause.subject : everything, tone: .wait) : isOfFleet ? View(badge: "in the fleet", tone: .wait) : nil
    return [
      "number": pause.id.description, "badge": badge, "filter": filter, "href": filter.isEmpty ? nil : PagePath.requests(filter),
      "by": pause.order.by, "why": pause.order.reason ?? "no reason given", "since": since, "until": until,
      "resume": View(button: "Resume", "\(path)/\(pause.id)/resume", of: "pause \(pause.id) of \(pause.subject)"),
    ]
  }

  /// The question before everything is paused.
  ///
  /// - Parameter begun: What a dry run has counted.
  public static func question(_ begun: BegunPause, typed: Typed, now: WallTime) -> Page {
    let waits = begun.waiting == 1 ? "1 request waits" : "\(begun.waiting) requests wait"
    let runs =
      switch begun.running {
      case 0: "No run is live."
      case 1: "1 run is live, and goes on to its end."
      default: "\(begun.running) runs are live, and go on to their ends."
      }
    let end: View? = View(time: begun.pause.order.until, now: now).map { ["time": $0] }
    let values: View = [
      "sentence": "Nothing of any task would begin any more. \(begun.hasMore ? "More than " : "")\(waits) now. \(runs)",
      "until": end, "filter": typed["filter"], "untilTyped": typed["until"], "why": typed["why"], "selection": typed["selection"],
      "back": Page.Section.pauses.path,
    ]
    return Page("Pause everything?", in: .pauses, "pause-question", values, now: now, changes: nil)
  }
}
