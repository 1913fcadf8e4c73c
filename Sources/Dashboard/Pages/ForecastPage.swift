public import TaskModel

/// The runs of the next day.
public enum ForecastPage {
  private static let (lanes, listed, held) = (60, 50, 50)

  /// The page of a forecast.
  public static func make(_ forecast: Forecast, now: WallTime) -> Page {
    let rows = forecast.entries.prefix(listed).map { entry -> View in
      [
        "time": View(time: entry.at, now: now), "name": entry.identifier.rawValue, "href": PagePath.request(entry.request),
        "isAssumed": entry.assumed, "duration": entry.duration.map { "about \($0.words)" } ?? "unknown",
      ]
    }
    let waiting = forecast.held.prefix(held).map { entry -> View in
      ["name": entry.identifier.rawValue, "href": PagePath.request(entry.request), "reason": entry.reason]
    }
    let list: View? = rows.isEmpty ? nil : ["rows": rows, "more": more(forecast.entries.count - listed, "runs", forecast.isTruncated)]
    let heldView: View? = waiting.isEmpty ? nil : ["items": waiting, "more": more(forecast.held.count - held, "requests", false)]
    let values: View = [
      "time": View(time: forecast.from, now: nil), "chart": Lanes.forecast(forecast, most: lanes), "notes": forecast.notes, "list": list,
      "held": heldView,
    ]
    // A forecast goes through all that is due: it is made when somebody asks for it, not at every event.
    return Page("Forecast", in: .forecast, "forecast", values, now: now, changes: nil)
  }

  private static func more(_ count: Int, _ kind: String, _ isTruncated: Bool) -> String? {
    if isTruncated { return "There are more \(kind) than the forecast goes through." }
    return count > 0 ? "and \(count) more \(kind)" : nil
  }
}
