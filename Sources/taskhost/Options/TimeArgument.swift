import ArgumentParser
import CalendarTime
import HostThreads
import StrictText
import TaskModel

/// Reads durations and moments in options.
enum TimeArgument {
  /// Milliseconds of `15m`, or of `-15m`: the host decides how long a duration may be.
  static func duration(_ text: String, _ option: String) throws -> Int64 {
    let isNegative = text.hasPrefix("-")
    let length = isNegative ? text.dropFirst() : text[...]
    do throws(DurationFormat.Problem) {
      let milliseconds = try DurationFormat.milliseconds(of: length, units: DurationFormat.unitsWithWeeks)
      return isNegative ? -milliseconds : milliseconds
    } catch {
      let seen = String(text.prefix(80)).escapingControlCharacters
      switch error {
      case .tooLong: throw ValidationError("\(option): '\(seen)' is longer than any limit: ten years, 3660d, is the most.")
      case .malformed:
        throw ValidationError(
          "\(option): '\(seen)' is not a duration: write whole numbers with their units, w, d, h, m, s or ms, such as 90s, 15m, 1h30m or 2d."
        )
      }
    }
  }

  /// A past moment in RFC 3339, given as a moment, or as a duration before now.
  static func past(_ text: String, _ option: String) throws -> String {
    if let length = DurationArgument.parse(text) {
      let time = SystemClock().wallTime + (.zero - .milliseconds(length))
      if let moment = RFC3339.format(time) { return moment }
    }
    let reading = MomentText.read(text)
    if case .skipped(let shown) = reading { throw skipped(text, shown, option) }
    guard case .moment(let time) = reading, let moment = RFC3339.format(time) else {
      throw ValidationError(
        "\(option): '\(text)' is neither a moment nor a duration: write 2026-11-21T08:00:00Z, '2026-11-21 08:00' or 24h.")
    }
    return moment
  }

  /// A moment in RFC 3339 to come, given as a moment, or as a duration from now.
  static func future(_ text: String, _ option: String) throws -> String {
    let time: WallTime
    if let length = DurationArgument.parse(text) {
      time = SystemClock().wallTime + .milliseconds(length)
    } else {
      switch MomentText.read(text) {
      case .moment(let moment): time = moment
      case .skipped(let shown): throw skipped(text, shown, option)
      case .none:
        throw ValidationError(
          "\(option): '\(text)' is neither a moment nor a duration: write 2026-11-21T08:00:00Z, '2026-11-21 08:00' or 2h.")
      }
    }
    guard let moment = RFC3339.format(time) else { throw ValidationError("\(option): '\(text)' is beyond the year 9999.") }
    return moment
  }

  /// Milliseconds since 1970 of `2026-11-21T08:00:00Z` or `2026-11-21 08:00`.
  static func moment(_ text: String, _ option: String) throws -> Int64 {
    switch MomentText.read(text) {
    case .moment(let time): return time.unixMilliseconds
    case .skipped(let shown): throw skipped(text, shown, option)
    case .none:
      throw ValidationError("\(option): '\(text)' is not a moment: write 2026-11-21T08:00:00Z, or '2026-11-21 08:00' for local time.")
    }
  }

  private static func skipped(_ text: String, _ shown: String, _ option: String) -> ValidationError {
    ValidationError(
      "\(option): there is no '\(text)' in this time zone, because clocks are set forward then: write '\(shown)', or a time with its offset."
    )
  }
}

extension NameSpecification {
  /// The option of a request's field.
  static func field(_ field: RequestField) -> NameSpecification { .customLong(field.option) }
}

extension JSONWriter {
  /// Writes a duration; nothing if it is nil.
  mutating func duration(_ field: RequestField, _ text: String?) throws {
    member(field, try text.map { try TimeArgument.duration($0, "--\(field.option)") })
  }

  /// Writes a moment; nothing if it is nil.
  mutating func moment(_ field: RequestField, _ text: String?) throws {
    member(field, try text.map { try TimeArgument.moment($0, "--\(field.option)") })
  }
}
