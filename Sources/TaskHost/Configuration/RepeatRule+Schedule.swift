import CalendarTime
import TaskModel

extension EventTrigger {
  /// Reads a `schedule` that follows an event: `on deploy`, `on condition:network after 10s`, whose last word is the debounce time; nil for
  /// other schedules.
  init?(schedule text: String) throws(TextProblem) {
    let words = text.split(separator: " ").map(String.init)
    guard words.first == "on" else { return nil }
    guard words.count == 2 || (words.count == 4 && words[2] == "after") else {
      throw TextProblem("\"\(text)\": write \"on EVENT\", or \"on EVENT after 10s\" to wait for the end of a burst")
    }
    self.init(words[1], debounce: words.count == 4 ? try DurationText.parse(words[3]) : .zero)
    do { try check() } catch { throw TextProblem(error.message) }
  }
}

extension RepeatRule {
  /// The text that ``init(schedule:)``, or ``EventTrigger/init(schedule:)``, reads as this.
  static func text(_ rule: RepeatRule, _ event: EventTrigger?) -> String {
    switch rule.schedule {
    case .every(let interval): return "every \(DurationText.format(interval))"
    case .cron(let cron): return "cron \(cron.expression) \(cron.timeZone)"
    case .event:
      guard let event else { return "on" }
      return event.debounce == .zero ? "on \(event.name)" : "on \(event.name) after \(DurationText.format(event.debounce))"
    }
  }

  /// Reads a plugin's `schedule`: `every 6h`, or `cron 0 8 * * * Europe/Berlin`, whose zone is the host's if it names none.
  init(schedule text: String) throws(TextProblem) {
    let words = text.split(separator: " ").map(String.init)
    switch words.first {
    case "every" where words.count == 2:
      self.init(every: try DurationText.parse(words[1]))
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
      self.init(.cron(CronRule(expression, timeZone: zone ?? HostTimeZone.name)))
    default:
      if words.count >= 5, (try? CronExpression(words.prefix(5).joined(separator: " "))) != nil {
        throw TextProblem("\"\(text)\": a cron schedule begins with the word cron: \"cron \(text)\"")
      }
      throw TextProblem("expected \"every 6h\", \"cron 0 8 * * * Europe/Berlin\" or \"on EVENT\", found \"\(text)\"")
    }
  }
}
