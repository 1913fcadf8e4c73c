import CalendarTime
import HostThreads
import StrictText
import TaskModel

extension PageQuery {
  /// A moment, as RFC 3339 or as a length of time from now; nil if it is absent or empty.
  ///
  /// - Parameter direction: 1 for what is to come, -1 for what was.
  func moment(_ name: String, direction: Int) throws(RequestRefusal) -> WallTime? {
    guard let text = try text(name) else { return nil }
    if let time = RFC3339.parse(text) { return time }
    do throws(DurationFormat.Problem) {
      let length = Duration.milliseconds(try DurationFormat.milliseconds(of: text[...], units: DurationFormat.unitsWithWeeks))
      return SystemClock().wallTime + length * direction
    } catch {
      let shown = String(text.prefix(40)).escapingControlCharacters
      let side = direction < 0 ? "how long ago" : "how long from now"
      throw RequestRefusal(
        .invalid, "\(name): \"\(shown)\" is not a moment: write \(side), as 2h or 1d12h, or a time as 2026-11-21T08:00:00Z", field: name)
    }
  }
}
