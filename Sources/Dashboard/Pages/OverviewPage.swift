public import TaskModel

/// The first page: problems first, then what runs, what is next, what waits and why.
public enum OverviewPage {
  /// - Parameters:
  ///   - runs: The live runs, and the last ones.
  ///   - plugins: What runs are told of their handlers.
  ///   - next: Requests that are due later, soonest first.
  ///   - waiting: Requests that are due or blocked and do not run.
  ///   - reasons: Why they do not.
  public static func make(
    _ status: HostStatus, runs: [RunRecord], plugins: [PluginStatus], next: [RequestRecord], waiting: [RequestRecord],
    reasons: [RequestID: String], now: WallTime
  ) -> Page {
    let acute = status.problems.count(where: \.needsAction)
    let title =
      switch (acute, status.problems.count) {
      case (0, 0): "No problems"
      case (0, let warnings): "\(warnings) \(warnings == 1 ? "warning" : "warnings"), nothing needs a person"
      default: "\(acute) \(acute == 1 ? "problem needs" : "problems need") a person"
      }
    let phase: View = ["badge": View(badge: status.phase.rawValue)]
    return Page(
      "Overview", in: .overview, "overview",
      [
        "phase": phase, "needsAction": acute > 0, "problemsTitle": title, "problems": status.problems.map { problem($0, now) },
        "figures": figures(status), "running": View(live: runs, plugins.contracts, now: now),
        "next": View(requests: next, caption: "The next requests", namesIDs: false, now: now),
        "waiting": View(requests: waiting, caption: "Requests that wait", namesIDs: false, reasons: reasons, now: now),
        "last": View(runs: runs.filter { $0.outcome != nil }, caption: "The last runs", namesTask: true, now: now),
      ], now: now)
  }

  private static func problem(_ problem: Problem, _ now: WallTime) -> View {
    // A subject is an identifier, IDENTIFIER/KEY, or something that has no page.
    let halves = problem.subject.map { $0.split(separator: "/", maxSplits: 1).map(String.init) } ?? []
    let identifier = isOfTask(problem.kind) ? halves.first.flatMap { try? TaskIdentifier($0) } : nil
    let pauses = problem.kind == .paused ? Page.Section.pauses.path : nil
    return [
      "badge": View(badge: problem.kind.rawValue, tone: problem.needsAction ? .bad : .wait), "subject": problem.subject ?? "the host",
      "href": identifier.map { href(problem.kind, $0, key: halves.count == 2 ? halves[1] : nil) } ?? pauses,
      "time": View(time: problem.since, now: now),
      "sentence": problem.sentence, "remedy": problem.remedy, "buttons": identifier.flatMap { buttons(problem.kind, $0) },
    ]
  }

  private static func isOfTask(_ kind: Problem.Kind) -> Bool {
    switch kind {
    case .failing, .deadLetters, .overdue, .quarantined, .held, .suspended, .shortage, .path, .worker: true
    default: false
    }
  }

  private static func href(_ kind: Problem.Kind, _ identifier: TaskIdentifier, key: String?) -> String {
    switch kind {
    case .deadLetters: PagePath.requests("state:failed identifier:\(identifier)")
    case .overdue: PagePath.requests("state:pending identifier:\(identifier)")
    default: PagePath.task(identifier, key: key)
    }
  }

  private static func buttons(_ kind: Problem.Kind, _ identifier: TaskIdentifier) -> View? {
    switch kind {
    case .quarantined, .held: ["items": [View(button: "Release", "/ui/plugins/\(identifier)/release", of: identifier.rawValue)]]
    default: nil
    }
  }

  private static func figures(_ status: HostStatus) -> [View] {
    let live: [RequestState] = [.running, .pending, .blocked, .failed]
    let counts = live.map { state -> View in
      let count = (status.requests[state] ?? 0) + (state == .pending ? status.requests[.claimed] ?? 0 : 0)
      return ["number": "\(count)", "label": "requests \(state.rawValue)", "href": PagePath.requests("state:\(state.rawValue)")]
    }
    return counts + [
      ["number": "\(status.running) of \(status.maxConcurrentRuns)", "label": "run slots in use"],
      ["number": "\(status.pluginsRegistered)", "label": "plugins registered", "href": Page.Section.plugins.path],
      ["number": "\(status.pluginsRefused)", "label": "plugins refused", "href": Page.Section.plugins.path],
      ["number": "\(status.pauses.count)", "label": "pauses in force", "href": Page.Section.pauses.path],
      ["number": "\(status.assertions.count)", "label": "assertions held", "href": Page.Section.assertions.path],
    ]
  }
}

extension [PluginStatus] {
  /// What is registered, by identifier.
  var contracts: [TaskIdentifier: HandlerContract] {
    Dictionary(compactMap { plugin in plugin.contract.map { ($0.identifier, $0) } }) { first, _ in first }
  }
}
