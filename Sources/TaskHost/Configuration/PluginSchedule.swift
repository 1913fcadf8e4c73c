import CalendarTime
import TaskModel

/// `schedule` of a plugin: when the host's own request for it repeats.
public enum PluginSchedule: Sendable, Equatable {
  /// `every 6h`: at this interval.
  case every(Duration)

  /// `cron 0 8 * * * Europe/Berlin`: at the times of a five-field expression, in a time zone by its IANA name; nil is the
  /// host's.
  case cron(expression: String, zone: String?)

  /// Reads a schedule.
  ///
  /// - Throws: ``TextProblem`` that says what is wrong with the text.
  init(_ text: String) throws(TextProblem) {
    let words = text.split(separator: " ").map(String.init)
    switch words.first {
    case "every" where words.count == 2:
      self = .every(try DurationText.parse(words[1]))
    case "cron":
      let isNamed = words.count > 1 && words[1].hasPrefix("@")
      let fields = words.dropFirst().prefix(isNamed ? 1 : 5)
      guard isNamed || fields.count == 5, words.count <= fields.count + 2 else {
        throw TextProblem("a cron schedule has five fields and, if wanted, a time zone: \"cron 0 8 * * * Europe/Berlin\"")
      }
      let expression = fields.joined(separator: " ")
      do { _ = try CronExpression(expression) } catch { throw TextProblem(error.observed) }
      let zone = words.count > fields.count + 1 ? words[words.count - 1] : nil
      if let zone {
        do { _ = try ZoneDirectory().rules(of: zone) } catch { throw TextProblem(error.description) }
      }
      self = .cron(expression: expression, zone: zone)
    default:
      if words.count >= 5, (try? CronExpression(words.prefix(5).joined(separator: " "))) != nil {
        throw TextProblem("\"\(text)\": a cron schedule begins with the word cron: \"cron \(text)\"")
      }
      throw TextProblem("expected \"every 6h\" or \"cron 0 8 * * * Europe/Berlin\", found \"\(text)\"")
    }
  }
}
