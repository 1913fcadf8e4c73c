public import TaskModel
import TaskScheduler

/// `[schedule."ID/NAME"]`: a schedule of an identifier besides the one in its table, with a payload of its own.
public struct ScheduleConfiguration: Sendable, Equatable {
  /// `every`, `cron` or `on`, one of them: when it repeats; nil until it has been read.
  var rule: RepeatRule?

  /// The event of `on`.
  var event: EventTrigger?

  /// `payload` of its runs, a JSON object; empty without one.
  public var payload = ""

  /// `priority`, -10 to 10.
  public var priority = 0

  /// `tags` of its request.
  public var tags: [String] = []

  /// `jitter` of its request.
  public var jitter = Duration.zero

  /// `wake`: whether it wakes the machine.
  public var wakes = false

  /// `prefer`: the hosts of the fleet that get its runs first; nil for none.
  public var prefer: String?

  /// `requires`: conditions of its request.
  public var requires: Conditions = []

  /// `retry`: what it leaves out is as for the identifier.
  public var retry = PluginConfiguration.Retry()

  static var fields: [TOMLField<Self>] {
    ["every", "cron", "on"].map(when) + [
      TOMLField("payload", \.payload, .json, about: "A JSON object for its runs. None by default."),
      TOMLField("priority", \.priority, .integer(TaskModel.Limits.priorities), about: "Its priority."),
      TOMLField("tags", \.tags, .list(.string), about: "Its tags."),
      TOMLField(
        "jitter", \.jitter, .duration(.zero...TaskModel.Limits.longestDuration),
        about: "How much later a run may start, by a fixed share, so that many hosts do not start at once."),
      TOMLField("wake", \.wakes, .bool, about: "Whether the schedule wakes the machine from sleep."),
      TOMLField("requires", \.requires, .conditions, about: "The conditions of its runs."),
      TOMLField(
        "prefer", optional: \.prefer, .preference,
        about: "Which hosts of the fleet get its runs first: a label, a host's name, or \"last_host\". None by default."),
      TOMLField(
        "retry", \.retry, table: PluginConfiguration.Retry.fields,
        about: "How its request is retried. What is left out is as for the identifier."),
    ]
  }

  private static let types = [
    "every": "interval such as \"6h\"", "cron": "cron expression, and a time zone if wanted", "on": "name of an event",
  ]

  private static let abouts = [
    "every": "An interval. Required, if there is no \"cron\" or \"on\".",
    "cron": "A cron expression, and a time zone if it is not the machine's.",
    "on": "The name of the event.",
  ]

  /// A key that says when, as the first word of a plugin's `schedule` does.
  private static func when(_ word: String) -> TOMLField<Self> {
    TOMLField(
      word, type: types[word] ?? "", about: abouts[word] ?? "",
      value: { root in
        guard let rule = root.rule else { return nil }
        let text = RepeatRule.text(rule, root.event)
        return text.hasPrefix("\(word) ") ? TOMLText.quoted(String(text.dropFirst(word.count + 1))) : nil
      }
    ) { root, value, path, reader in
      guard case .string(let text) = value else { return reader.reportType(value, at: path, expected: "a string") }
      guard let (rule, event) = TOMLConverter.schedule.convert(.string("\(word) \(text)"), path, reader) else { return }
      (root.rule, root.event) = (rule, event)
    }
  }

  /// The table `schedule`: a table for each name.
  static func readAll(_ value: ConfigurationValue, at path: ConfigurationPath, _ reader: TOMLReader) -> [ScheduleName: Self] {
    guard let tables = reader.table(value, at: path) else { return [:] }
    var read: [ScheduleName: Self] = [:]
    for (text, value) in tables.sorted(by: { $0.key < $1.key }) {
      let place = path.appending(text)
      guard let name = ScheduleName(text) else {
        reader.report(
          place,
          "\"\(text)\" does not name a schedule: write [schedule.\"IDENTIFIER/NAME\"], the name of 1 to \(ScheduleName.longest) of A-Z a-z 0-9 . _ -"
        )
        continue
      }
      guard let table = reader.table(value, at: place) else { continue }
      let words = ["every", "cron", "on"].filter { table[$0] != nil }
      if words.isEmpty { reader.report(place, "\(place) does not say when: add \"every\", \"cron\" or \"on\"") }
      if words.count > 1 { reader.report(place, "\(place) has \(words.joined(separator: " and ")): make a table of each") }
      var made = Self()
      reader.read(table, fields, into: &made, at: place)
      read[name] = made
    }
    return read
  }

  /// What the scheduler submits; nil if the table does not say when.
  ///
  /// - Parameter plugin: The table of the identifier, whose `window`, `on_lost_condition` and retry policy count here too.
  func request(_ plugin: PluginConfiguration, retry host: RetryPolicy) -> ScheduledRequest? {
    guard let rule else { return nil }
    var request = ScheduledRequest(
      rule, event: event,
      gates: RunConstraints(
        conditions: requires, onLostCondition: plugin.scheduling.onLostCondition ?? .stop, window: plugin.scheduling.window),
      jitter: jitter)
    (request.gates.wakes, request.gates.prefer) = (wakes, prefer)
    (request.payload, request.priority, request.tags) = (Array(payload.utf8), priority, tags)
    if retry != PluginConfiguration.Retry() { request.retry = host.changed(by: plugin.retry).changed(by: retry) }
    return request
  }
}

extension HostConfiguration {
  /// Reports schedules of identifiers that may not register, and values that no host accepts.
  func reportContradictionsOfSchedules(to reader: TOMLReader) {
    for (name, schedule) in schedules.sorted(by: { $0.key.description < $1.key.description }) {
      let path = ["schedule", name.description]
      let identifier = name.identifier
      if reader.isSound("permitted_identifiers"), !permits(identifier) {
        reader.report(path, "permitted_identifiers does not permit \"\(identifier)\": add it there, or remove this table")
      }
      guard let request = schedule.request(plugin(identifier.rawValue), retry: retry) else { continue }
      reportContradictions(
        of: request.repetition, of: identifier.rawValue, at: path + [reader.has("schedule", name.description, "every") ? "every" : "on"],
        to: reader)
      let own = request.retry ?? retry
      if own.initial > own.maximum {
        let texts = (DurationText.format(own.initial), DurationText.format(own.maximum))
        // The keys that the table lacks come from elsewhere.
        let key = schedule.retry.initial == nil ? "maximum" : "initial"
        reader.report(
          path + ["retry", key], "initial (\(texts.0)) is longer than maximum (\(texts.1)); what is left out is as for the identifier")
        continue
      }
      do throws(RequestRefusal) { try request.submission(of: name).check() } catch {
        let flaw = Self.inOwnWords(error)
        reader.report(flaw.key.map { reader.has("schedule", name.description, $0) ? path + [$0] : path } ?? path, flaw.message)
      }
    }
  }

  /// A refusal of what a table submits, and the key that it is about; the message then begins with the key, not with the member of a request.
  private static func inOwnWords(_ refusal: RequestRefusal) -> (key: String?, message: String) {
    guard let field = refusal.field else { return (nil, refusal.message) }
    let member = String(field.prefix { $0 != "[" && $0 != "." })
    let key =
      [RequestField.event.rawValue: "on", RequestField.jitter.rawValue: "jitter", RequestField.conditions.rawValue: "requires"][member]
      ?? member
    return (key, refusal.message.hasPrefix(member) ? key + refusal.message.dropFirst(member.count) : refusal.message)
  }

  /// Reports a schedule that repeats too often or too seldom.
  func reportContradictions(of rule: RepeatRule?, of identifier: String, at path: [String], to reader: TOMLReader) {
    guard let interval = rule?.interval else { return }
    let minimum = plugin(identifier).scheduling.minimumInterval ?? minimumInterval
    let text = DurationText.format(interval)
    if interval < minimum {
      reader.report(path, "every \(text) is more often than minimum_interval (\(DurationText.format(minimum))) allows")
    }
    if interval > TaskModel.Limits.longestDuration {
      reader.report(path, "every \(text) is more than ten years: take a shorter interval")
    }
  }
}
