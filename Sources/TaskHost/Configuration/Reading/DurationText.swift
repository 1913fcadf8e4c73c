import StrictText
import TaskModel

/// Durations as operators write them: `500ms`, `15m`, `6h`, `7d`, `1h30m`.
enum DurationText {
  /// Reads numbers with units, the larger units first and each at most once.
  static func parse(_ text: String) throws(TextProblem) -> Duration {
    let problem = TextProblem("expected a duration such as \"500ms\", \"30s\", \"15m\", \"6h\", \"7d\" or \"1h30m\", found \"\(text)\"")
    do { return .milliseconds(try DurationFormat.milliseconds(of: text[...])) } catch .malformed { throw problem } catch {
      throw TextProblem("the duration \"\(text)\" is too long")
    }
  }

  /// The shortest text for a duration, to the millisecond.
  static func format(_ duration: Duration) -> String { DurationFormat.text(milliseconds: duration.wholeMilliseconds) }
}

extension Duration {
  /// Days of 24 hours.
  static func days(_ days: Int) -> Duration { .seconds(days * 86_400) }
}
