import TaskModel

/// How long runs took, and how long after their scheduled time they started, oldest first: a bar for each run.
enum DurationPlot {
  private static let most = 60
  private static let step = 10
  /// The width of a bar with its gap on a wide screen.
  private static let pixels = 20

  /// nil if fewer than two runs have a duration.
  ///
  /// - Parameters:
  ///   - runs: Ended runs, newest first.
  ///   - request: The live request, whose times say when a run was to start; nil if there is none.
  static func view(of runs: [RunRecord], repeating request: RequestRecord?) -> View? {
    let shown = runs.prefix(most).filter { $0.duration != nil }.reversed()
    guard shown.count > 1 else { return nil }
    let durations = shown.compactMap(\.duration)
    let width = shown.count * step
    let bars = zip(shown, durations).enumerated().map { index, pair in
      let (run, duration) = pair
      return bar(index, duration, of: durations.max() ?? .zero, "\(run.word) after \(duration.words)", tone: run.tone)
    }
    return [
      "width": width, "pixels": shown.count * pixels, "bars": bars, "late": request.flatMap { late(shown, $0, width) },
      "durations": "The last \(shown.count) runs took \(words(durations)).",
    ]
  }

  private static func late(_ runs: some Collection<RunRecord>, _ request: RequestRecord, _ width: Int) -> View? {
    guard let rule = request.request.repetition, let anchor = request.occurrence else { return nil }
    let delays = runs.map { run in run.attempt == 1 ? lateness(of: run.began, rule, anchor) : nil }
    let known = delays.compactMap(\.self)
    guard known.count > 1 else { return nil }
    let bars = delays.enumerated().compactMap { index, delay in
      delay.map { bar(index, $0, of: max(known.max() ?? .zero, .seconds(1)), "started \($0.words) late", tone: .quiet) }
    }
    return [
      "bars": bars, "width": width, "pixels": runs.count * pixels,
      "text": "\(known.count) of them started at their scheduled time or later: \(words(known)) late, by the present schedule.",
    ]
  }

  /// How long after the last scheduled time a run began. nil if that is nearer to the next one: then the schedule did not start it.
  private static func lateness(of began: WallTime, _ rule: RepeatRule, _ anchor: WallTime) -> Duration? {
    switch rule.schedule {
    case .event: return nil
    case .every(let interval):
      let step = max(1, interval.wholeMilliseconds)
      let rest = (began - anchor).wholeMilliseconds % step
      let late = rest < 0 ? rest + step : rest
      return late <= step / 2 ? .milliseconds(late) : nil
    case .cron:
      // Cron is exact to the minute: the time of the minute before, or of the hour.
      for window in [Duration.seconds(61), .seconds(3601)] {
        guard let time = rule.following(began + (.zero - window)), time <= began else { continue }
        var last = time
        while let next = rule.following(last), next <= began { last = next }
        return began - last
      }
      return nil
    }
  }

  private static func bar(_ index: Int, _ length: Duration, of longest: Duration, _ title: String, tone: Tone) -> View {
    let height = Int(clamping: (length * 96).wholeMilliseconds / max(1, longest.wholeMilliseconds))
    return ["x": index * step + 1, "y": 100 - max(2, height), "h": max(2, height), "title": title, "tone": tone.rawValue]
  }

  /// `2s to 40s, half of them at most 5s`
  private static func words(_ durations: [Duration]) -> String {
    let sorted = durations.sorted()
    guard let least = sorted.first, let most = sorted.last else { return "" }
    return "\(least.words) to \(most.words), half of them at most \(sorted[(sorted.count - 1) / 2].words)"
  }
}
