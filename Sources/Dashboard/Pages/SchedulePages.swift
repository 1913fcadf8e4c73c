import CalendarTime
public import TaskModel

/// The list of schedules, and the page of one.
public enum SchedulePages {
  /// All schedules that the host tells of.
  public static func list(_ tasks: [TaskActivity], now: WallTime) -> Page {
    let rows = tasks.map { task -> View in
      let schedule = task.schedule
      let last: View? = schedule.lastRun.map { run in
        ["badge": View(badge: run.word, tone: run.tone), "time": View(time: run.ended ?? run.started, now: now), "streak": schedule.streak]
      }
      let success: View? = View(time: schedule.lastSuccess, now: now).map { ["time": $0] }
      let next: View? = View(time: task.nextStart, now: now).map { ["time": $0] }
      return [
        "href": PagePath.task(schedule), "name": schedule.name, "repeats": schedule.request?.request.repetition?.words ?? "-",
        "last": last, "success": success, "next": next, "nextWord": task.nextWord, "throttle": task.throttle?.sentence,
      ]
    }
    let list: View? = rows.isEmpty ? nil : ["rows": rows]
    return Page("Schedules", in: .tasks, "tasks", ["list": list], now: now)
  }

  /// One schedule.
  ///
  /// - Parameters:
  ///   - contract: What its handler registered; nil without a handler.
  ///   - runs: Its runs, newest first.
  ///   - next: Where the next page begins, as its parameter `after` takes it; nil on the last page.
  public static func one(
    _ task: TaskActivity, _ plugin: PluginStatus?, runs: [RunRecord], next: String?, isFirst: Bool, now: WallTime
  ) -> Page {
    let schedule = task.schedule
    let identifier = schedule.identifier
    let path = PagePath.task(schedule)
    let times = task.times(5, after: now).compactMap { View(time: $0, now: now) }.map { time -> View in ["time": time] }
    let ended = runs.filter { $0.outcome != nil }
    let following = next.map { path + (path.contains("?") ? "&" : "?") + "after=\($0)" }
    let contracts = plugin.map { [$0].contracts } ?? [:]
    let values: View = [
      "name": schedule.name, "badge": View(badge: schedule.word), "repeats": schedule.request?.request.repetition?.words,
      "buttons": buttons(schedule, hasLive: runs.contains { $0.outcome == nil }),
      "submit": plugin == nil ? nil : PagePath.submit(identifier),
      "requests": PagePath.requests("identifier:\(identifier)"), "facts": facts(task, plugin, now),
      "next": times.isEmpty ? nil : ["items": times] as View, "nextWord": task.nextWord,
      "plot": DurationPlot.view(of: ended, repeating: schedule.request), "live": View(live: runs, contracts, now: now),
      "runs": View(runs: ended, caption: "Runs, newest first", namesTask: false, now: now),
      "pager": ListPages.pager(first: isFirst ? nil : path, next: following),
    ]
    return Page(schedule.name, in: .tasks, "task", values, now: now)
  }

  private static func buttons(_ schedule: ScheduleRecord, hasLive: Bool) -> [View] {
    let identifier = schedule.identifier
    var buttons = [View(button: "Run now", "/ui/tasks/\(identifier)/run", of: identifier.rawValue, kind: "main")]
    if hasLive {
      buttons.append(View(button: "Expire its runs", "/ui/tasks/\(identifier)/expire", of: identifier.rawValue, kind: "danger"))
    }
    return buttons
  }

  private static func facts(_ task: TaskActivity, _ plugin: PluginStatus?, _ now: WallTime) -> [View] {
    let (schedule, contract) = (task.schedule, plugin?.contract)
    let facts: [View?] = [
      View(fact: "Last success", schedule.lastSuccess, now: now) ?? View(fact: "Last success", "never"),
      View(fact: "In a row", schedule.streak ?? (schedule.lastRun == nil ? nil : "no failure")),
      View(fact: "Failing since", schedule.failingSince, now: now),
      View(fact: "Last run", schedule.lastRun?.word, href: schedule.lastRun.map { PagePath.run($0.id) }),
      View(fact: "Last run ended", schedule.lastRun?.ended, now: now),
      View(fact: "Message", ForeignText.short(schedule.lastRun?.report.message)),
      View(fact: "Request", schedule.request?.id.description, href: schedule.request.map { PagePath.request($0.id) }),
      View(fact: "State", schedule.request?.word), View(fact: "Held back", task.throttle?.sentence),
      View(fact: "Handler", contract == nil ? "none is registered: its requests wait" : plugin?.health.rawValue),
      View(fact: "Kind", contract?.kind.rawValue), View(fact: "Budget", contract.map { $0.budget?.words ?? "none" }),
      View(fact: "Grace", contract?.grace.words), View(fact: "Runs at once", contract.map { "\($0.maxConcurrentRuns)" }),
    ]
    return facts.compactMap(\.self)
  }
}

extension ScheduleRecord {
  /// `3 failures in a row`; nil without any.
  var streak: String? { failures == 0 ? nil : "\(failures) \(failures == 1 ? "failure" : "failures") in a row" }

  /// The word for people.
  var word: String {
    if isFailing { return "failing" }
    if let request, !request.state.isFinal, request.state == .running || request.paused != nil { return request.word }
    return lastRun.map { $0.outcome?.isFailure == true ? "failed" : "ok" } ?? "never ran"
  }
}

extension TaskActivity {
  /// What stands where a next time would.
  var nextWord: String {
    guard let request = schedule.request else { return "nothing is pending" }
    if request.state == .running { return "after this run" }
    return request.request.event == nil ? "unknown" : "on an event"
  }

  /// The next times of the schedule: the due time of its request, and those that follow by its rule.
  func times(_ count: Int, after now: WallTime) -> [WallTime] {
    let rule = schedule.request.flatMap { $0.state.isFinal ? nil : $0.request.repetition }
    var times = [nextStart].compactMap(\.self).filter { $0 < .distantFuture }
    guard let rule else { return times }
    var last = max(times.first ?? now, schedule.request?.occurrence ?? now)
    while times.count < count, let next = rule.following(last), next < .distantFuture {
      if next > now { times.append(next) }
      last = next
    }
    return times
  }
}

extension RepeatRule {
  /// The next scheduled time; nil if there is none, or only an event decides.
  func following(_ time: WallTime) -> WallTime? {
    switch schedule {
    case .every(let interval): return time + max(.milliseconds(1), interval)
    case .event: return nil
    case .cron(let cron):
      guard let expression = try? CronExpression(cron.expression), let zone = try? ZoneDirectory().rules(of: cron.timeZone) else {
        return nil
      }
      let schedule = CronSchedule(expression, in: zone, daylight: cron.daylight)
      return schedule.next(after: Int(time.unixMilliseconds / 1000)).map { WallTime(unixSeconds: $0) }
    }
  }
}
