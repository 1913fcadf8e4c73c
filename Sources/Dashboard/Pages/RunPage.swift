import StrictText
public import TaskModel

/// The page of a run.
public enum RunPage {
  /// - Parameter request: Its request; nil if that is no longer on record.
  public static func make(_ run: RunRecord, _ request: RequestRecord?, plugins: [PluginStatus], now: WallTime) -> Page {
    let name = request?.name ?? run.identifier.rawValue
    let isLive = run.outcome == nil
    var buttons: [View] = []
    if let request, isLive, request.stopRequested == nil {
      buttons.append(View(button: "Cancel its request", "\(PagePath.request(request.id))/cancel", of: name, kind: "danger"))
    }
    if let request, request.state == .failed {
      buttons.append(View(button: "Retry", "\(PagePath.request(request.id))/retry", of: name, kind: "main"))
    }
    let values: View = [
      "name": name, "id": run.id.description, "badge": View(badge: run.word, tone: run.tone), "buttons": buttons,
      "live": View(live: [run], plugins.contracts, now: now), "facts": facts(run, now),
      "trouble": run.report.trouble.map { ["text": Lines($0)] as View }, "log": View(log: run.report.log),
      "output": ForeignText.bytes(run.report.output).map { ["text": $0] as View },
    ]
    // A run that has ended stays as it is.
    let changes = isLive ? PagePath.query(PagePath.changes, ["request": run.request.description]) : nil
    return Page("Run of \(name)", in: .runs, "run", values, now: now, changes: changes)
  }

  private static func facts(_ run: RunRecord, _ now: WallTime) -> [View] {
    let report = run.report
    let facts: [View?] = [
      View(fact: "Task", run.identifier.rawValue, href: PagePath.task(run.identifier)),
      View(fact: "Request", run.request.description, href: PagePath.request(run.request)), View(fact: "Host", run.host),
      View(fact: "Attempt", "\(run.attempt)"),
      View(fact: "Recorded", run.started, now: now), View(fact: "Handler called", report.began, now: now),
      View(fact: "Ended", run.ended, now: now), View(fact: "Duration", run.duration?.words), View(fact: "Message", report.message),
      View(fact: "Stopped", run.reasonWords), View(fact: "Used up its budget", run.isExpired ? "yes" : nil),
      View(fact: "Progress", run.outcome == nil ? nil : report.progress.map(WorkFormat.amount)),
      View(fact: "Work", report.work.map(WorkFormat.words)), View(fact: "Asked to run again after", report.retryAfter?.words),
      View(fact: "Processor time", report.cpuTime?.words), View(fact: "Peak memory", report.peakMemory.map { ByteCountFormat.words($0) }),
      View(fact: "Trace", report.trace?.current.description),
    ]
    return facts.compactMap(\.self)
  }
}
