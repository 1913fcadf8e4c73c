import ArgumentParser
import TaskModel

/// Durations and moments as options have them.
enum TimeArgument {
  /// Milliseconds of `15m`.
  static func duration(_ text: String, _ option: String) throws -> Int64 {
    guard let milliseconds = DurationText.parse(text) else {
      throw ValidationError("\(option): '\(text)' is no duration: write 90s, 15m, 1h30m or 2d.")
    }
    return milliseconds
  }

  /// Milliseconds since 1970 of `2026-11-21T08:00:00Z` or `2026-11-21 08:00`.
  static func moment(_ text: String, _ option: String) throws -> Int64 {
    guard let time = MomentText.parse(text) else {
      throw ValidationError("\(option): '\(text)' is no moment: write 2026-11-21T08:00:00Z, or '2026-11-21 08:00' for local time.")
    }
    return time.unixMilliseconds
  }
}
