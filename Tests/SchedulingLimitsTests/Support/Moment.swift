import CalendarTime
import TaskModel

/// Moments in UTC as the tables have them: `2026-03-29 01:00`.
enum Moment {
  static func parse(_ text: String) throws -> WallTime {
    let parts = text.split { $0 == "-" || $0 == " " || $0 == ":" }.compactMap { Int($0) }
    guard parts.count == 5 else { throw NoMoment(text: text) }
    let days = CivilDate(year: parts[0], month: parts[1], day: parts[2]).daysSince1970
    return WallTime(unixMilliseconds: Int64(days * 86_400 + parts[3] * 3600 + parts[4] * 60) * 1000)
  }

  static func text(_ time: WallTime?) -> String {
    guard let time else { return "never" }
    let seconds = Int(time.unixMilliseconds / 1000)
    let date = CivilDate(daysSince1970: seconds / 86_400)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(date.year)-\(two(date.month))-\(two(date.day)) \(two(seconds % 86_400 / 3600)):\(two(seconds % 3600 / 60))"
  }

  struct NoMoment: Error { let text: String }
}
