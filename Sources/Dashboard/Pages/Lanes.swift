import CalendarTime
import TaskModel

/// Bars on a line of time, a lane for each task or attempt. A lane is 1440 units wide: a day has as many minutes.
enum Lanes {
  private static let width: Int64 = 1440

  /// The attempts of a request from the first to now; nil if there are none.
  static func attempts(_ runs: [RunRecord], now: WallTime) -> View? {
    guard let first = runs.map(\.started).min() else { return nil }
    let end = runs.contains { $0.ended == nil } ? now : runs.compactMap(\.ended).max() ?? now
    let lanes = runs.reversed().suffix(30).map { run -> View in
      let title = "attempt \(run.attempt): \(run.word)\(run.duration.map { " after \($0.words)" } ?? "")"
      return [
        "name": "Attempt \(run.attempt)", "href": PagePath.run(run.id), "label": title,
        "marks": [mark(run.began, run.ended ?? now, from: first, to: end, title, run.tone)],
      ]
    }
    return ["lanes": Array(lanes), "axis": axis(from: first, to: end, parts: 2)]
  }

  /// The runs of a forecast by task; nil if there are none.
  ///
  /// - Parameter most: How many tasks have a lane.
  static func forecast(_ forecast: Forecast, most: Int) -> View? {
    let byTask = Dictionary(grouping: forecast.entries, by: \.identifier)
    guard !byTask.isEmpty else { return nil }
    let lanes = byTask.sorted { ($0.value[0].at, $0.key) < ($1.value[0].at, $1.key) }.prefix(most).map { identifier, entries -> View in
      let marks = entries.prefix(500).map { entry in
        mark(
          entry.at, entry.at + (entry.duration ?? .zero), from: forecast.from, to: forecast.to,
          "\(MomentFormat.local(entry.at.unixMilliseconds))\(entry.duration.map { ", about \($0.words)" } ?? "")",
          entry.assumed ? .wait : .live)
      }
      let first = MomentFormat.local(entries[0].at.unixMilliseconds)
      return [
        "name": identifier.rawValue, "href": PagePath.task(identifier), "marks": Array(marks), "grid": grid,
        "label": "\(identifier): \(entries.count) \(entries.count == 1 ? "run" : "runs"), the first at \(first)",
      ]
    }
    return ["lanes": Array(lanes), "axis": axis(from: forecast.from, to: forecast.to, parts: 4)]
  }

  private static var grid: [View] { [360, 720, 1080].map { ["x": $0] } }

  private static func axis(from: WallTime, to: WallTime, parts: Int64) -> [String] {
    let isLong = to - from >= .seconds(3600)
    return (0...parts).map { part in
      let time = (from + (to - from) * part / parts).unixMilliseconds
      return isLong ? MomentFormat.hour(time) : MomentFormat.clock(time)
    }
  }

  private static func mark(_ begin: WallTime, _ end: WallTime, from: WallTime, to: WallTime, _ title: String, _ tone: Tone) -> View {
    let whole = max(1, (to - from).wholeMilliseconds)
    func place(_ time: WallTime) -> Int64 {
      min(width, max(0, (time - from).wholeMilliseconds.multiplied(saturatingBy: width) / whole))
    }
    // Wide enough to be seen, and within the lane.
    let x = min(width - 6, place(begin))
    return ["x": Int(x), "w": Int(max(6, place(end) - x)), "title": title, "tone": tone.rawValue]
  }
}

extension RunRecord {
  /// When its handler was called, as far as it is known.
  var began: WallTime { report.began ?? started }
}
