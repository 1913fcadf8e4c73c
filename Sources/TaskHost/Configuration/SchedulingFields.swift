import CalendarTime
import HostConditions
public import SchedulingLimits
import TaskModel
import TaskScheduler

// The keys about scheduling.

extension HostConfiguration {
  /// `[windows.NAME]`: a maintenance window.
  public struct Window: Sendable, Equatable {
    /// `from`, the time of day at which it opens: `"01:00"`.
    public var from = ""

    /// `to`, the time of day at which it closes; on the next day if not after `from`.
    public var to = ""

    /// `days` on which it opens, at least one; every day if the key is missing.
    public var days: [String] = []

    /// `time_zone`, an IANA name; the machine's by default.
    public var timeZone = HostTimeZone.name

    /// Reads the file of the time zone.
    func made() throws -> MaintenanceWindow {
      try MaintenanceWindow(from: from, to: to, days: days, zone: try ZoneDirectory().rules(of: timeZone))
    }

    static var fields: [TOMLField<Self>] {
      [
        TOMLField("from", \.from, .string, about: "The time of day at which it opens. Required."),
        TOMLField("to", \.to, .string, about: "The time of day at which it closes, on the next day if it is not after \"from\". Required."),
        TOMLField("days", \.days, .weekdays, about: "The days on which it opens. Every day by default."),
        TOMLField("time_zone", \.timeZone, .string, about: "Its time zone. The machine's by default."),
      ]
    }
  }

  /// `[idle]`: idle stages.
  public struct Idle: Sendable, Equatable {
    /// `stages`: whether the machine has idle stages; nil: if the profile has them.
    public var stages: Bool?

    /// `light_after`, `deep_after`: how long the machine has rested when a stage begins.
    public var times = IdleStages()

    static var fields: [TOMLField<Self>] {
      let time = TOMLConverter<Duration>.duration(.seconds(1) ... .days(366))
      return [
        TOMLField("stages", optional: \.stages, .bool, about: "Whether the machine has idle stages. By default, if the profile has them."),
        TOMLField("light_after", \.times.lightAfter, time, about: "How long it has rested when the first stage begins."),
        TOMLField("deep_after", \.times.deepAfter, time, about: "How long it has rested when the second stage begins."),
      ]
    }
  }

  /// The idle stages; nil if the machine has none.
  var idleStages: IdleStages? { idle.stages ?? profile.hasIdleStages ? idle.times : nil }

  static var schedulingFields: [TOMLField<HostConfiguration>] {
    [
      TOMLField(
        "profile", \.profile, .choice(),
        about: "The limits of what this file does not limit: \"server\" limits nothing, \"phone\" as a phone limits its apps."),
      TOMLField(
        "idle", \.idle, table: Idle.fields, about: "Whether work waits for maintenance windows while the machine rests on battery."),
      TOMLField("rate_limit", optional: \.rateLimit, .rate, about: "How often runs of the whole host may begin. Not limited by default."),
      TOMLField(
        "event_quota", optional: \.eventQuota, .rate,
        about: "How often events may wake the requests of one identifier. Not limited by default."),
      TOMLField(
        "resources", \.resources, .counts(Limits.resourceTokens),
        about: "The number of tokens of each resource that runs share, by names of your choice."),
      TOMLField("conditions", \.conditions, table: ConditionSettings.fields, about: "When the machine's conditions count as held."),
      EventSocketTable.field,
      TOMLField(
        "windows", named: Window.fields, about: "A maintenance window, by a name of your choice.", tables: \.windows, make: { Window() }
      ) { root, value, path, reader in
        guard let tables = reader.table(value, at: path) else { return }
        for (name, value) in tables.sorted(by: { $0.key < $1.key }) {
          let path = path.appending(name)
          guard reader.isName(name, at: path, "the name of a window"), let table = reader.table(value, at: path) else { continue }
          var window = Window()
          for key in ["from", "to"] where table[key] == nil { reader.report(path, "\(path) has no \"\(key)\"") }
          reader.read(table, Window.fields, into: &window, at: path)
          guard table["from"] != nil, table["to"] != nil else { continue }
          do { _ = try window.made() } catch { reader.report(path, "\(path): \(error)") }
          root.windows[name] = window
        }
      },
    ]
  }
}

extension ConditionSettings {
  static var fields: [TOMLField<Self>] {
    let wait = TOMLConverter<Duration>.duration(.zero ... .days(1))
    let every = TOMLConverter<Duration>.duration(.seconds(1) ... .days(1))
    return [
      TOMLField(
        "network_holds_after", \.networkHoldsAfter, wait, about: "How long the network must be available before the condition holds."),
      TOMLField("network_lost_after", \.networkLostAfter, wait, about: "How long the network must be away before the condition is lost."),
      TOMLField(
        "power_holds_after", \.powerHoldsAfter, wait, about: "How long external power must be connected before the condition holds."),
      TOMLField(
        "power_lost_after", \.powerLostAfter, wait, about: "How long external power must be disconnected before the condition is lost."),
      TOMLField("power_every", \.powerEvery, every, about: "How often power is read while a request waits for it."),
      TOMLField("battery_low", \.batteryLow, .percent, about: "The charge in percent below which the battery is low."),
      TOMLField("battery_ok", \.batteryOK, .percent, about: "The charge in percent at which the battery is no longer low."),
      TOMLField("idle_load", \.idleLoad, .number(0...1000), about: "The load for each processor up to which the machine is idle."),
      TOMLField("busy_load", \.busyLoad, .number(0...1000), about: "The load for each processor above which the machine is busy."),
      TOMLField(
        "idle_pressure", \.idlePressure, .percent,
        about: "The share of time in percent in which tasks waited for a processor or disk, up to which the machine is idle."),
      TOMLField(
        "busy_pressure", \.busyPressure, .percent,
        about: "The share of time in percent in which tasks waited for a processor or disk, above which the machine is busy."),
      TOMLField("idle_holds_after", \.idleHoldsAfter, wait, about: "How long the machine must be idle before the condition holds."),
      TOMLField("idle_lost_after", \.idleLostAfter, wait, about: "How long the machine must be busy before the condition is lost."),
      TOMLField("idle_every", \.idleEvery, every, about: "How often load is read while a request waits for an idle machine."),
      TOMLField("storage_low", \.storageLow, .percent, about: "The free share of the disk in percent below which storage is low."),
      TOMLField("storage_ok", \.storageOK, .percent, about: "The free share in percent at which storage is no longer low."),
      TOMLField("storage_low_bytes", \.storageLowBytes, .storage, about: "The free size below which storage is low, whatever the share."),
      TOMLField("storage_ok_bytes", \.storageOKBytes, .storage, about: "The free size at which storage is no longer low."),
      TOMLField("storage_every", \.storageEvery, every, about: "How often free storage is read while a request waits for it."),
    ]
  }
}

extension PluginConfiguration {
  static var schedulingFields: [TOMLField<PluginConfiguration>] {
    [
      TOMLField(
        "schedule", type: TOMLConverter.schedule.type,
        about: "When the host runs it: \"every 6h\", \"cron 0 8 * * 1-5\", \"cron 0 8 * * * Europe/Berlin\", or \"on EVENT\".",
        value: { root in root.schedule.map { TOMLConverter.schedule.text(($0, root.event)) } }
      ) { root, value, path, reader in
        guard let (rule, event) = TOMLConverter.schedule.convert(value, path, reader) else { return }
        (root.schedule, root.event) = (rule, event)
      },
      TOMLField(
        "jitter", \.jitter, .duration(.zero...TaskModel.Limits.longestDuration),
        about: "How much later a scheduled run may start, by a fixed share, so that many hosts do not start at once."),
      TOMLField("wake", \.wakes, .bool, about: "Whether the schedule wakes the machine from sleep."),
      TOMLField("requires", \.requires, .conditions, about: "The conditions of scheduled runs."),
      TOMLField(
        "prefer", optional: \.prefer, .preference,
        about: "Which hosts of the fleet get scheduled runs first: a label, a host's name, or \"last_host\". None by default."),
      TOMLField(
        "on_lost_condition", optional: \.scheduling.onLostCondition, .choice(),
        about: "What a run does when it loses a condition: \"stop\", and wait for the condition, or \"finish\"."),
      TOMLField(
        "window", optional: \.scheduling.window, .string, about: "The maintenance window of its requests, by its name. None by default."),
      TOMLField("rate_limit", optional: \.scheduling.rate, .rate, about: "How often its runs may begin. Not limited by default."),
      TOMLField(
        "rate_limit_per_key", optional: \.scheduling.ratePerKey, .rate,
        about: "How often runs of one concurrency key may begin. Not limited by default."),
      TOMLField(
        "fair_by", optional: \.scheduling.fairBy, .fairBy,
        about: "What tells tenants apart, between whom run time is shared: \"payload.MEMBER\" or \"concurrency_key\". Nothing "
          + "by default."),
      TOMLField(
        "runs_per_key", \.scheduling.runsPerKey, .integer(1...10_000), about: "How many runs of one concurrency key it has at once."),
      TOMLField(
        "resources", \.scheduling.resources, .counts(TaskModel.Limits.resourceTokens),
        about: "The tokens of [resources] that each run takes."),
      TOMLField(
        "quota", type: TOMLConverter.quota.type,
        about: "Its run time in a period, a table with one for each bucket, or \"none\" against a profile's. Not limited by default.",
        value: { $0.scheduling.hasNoQuota ? "\"none\"" : $0.scheduling.quota.map(TOMLConverter.quota.text) }
      ) { root, value, path, reader in
        if case .string("none") = value {
          root.scheduling.hasNoQuota = true
        } else {
          root.scheduling.quota = TOMLConverter.quota.convert(value, path, reader)
        }
      },
      TOMLField(
        "expect_within", optional: \.scheduling.expectWithin, .duration(.seconds(1)...TaskModel.Limits.longestDuration),
        about: "Within which time of a success the next one is expected. What is missed is reported."),
      TOMLField(
        "start_within", optional: \.scheduling.startWithin, .duration(.seconds(1)...TaskModel.Limits.longestDuration),
        about: "Within which time of its due time a run must begin. What is missed is reported."),
      TOMLField(
        "retry", \.retry, table: Retry.fields,
        about: "How its requests are retried that say nothing about it. What is left out is as in [retry]."),
    ]
  }
}

extension PluginConfiguration.Retry {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField(
        "attempts", optional: \.attempts, .integer(Limits.attempts), about: "How often a request is tried before it has failed for good."),
      TOMLField("backoff", optional: \.backoff, .choice(), about: "How the delay grows."),
      TOMLField("initial", optional: \.initial, .duration(Limits.retryDelays), about: "The first delay."),
      TOMLField("maximum", optional: \.maximum, .duration(Limits.retryDelays), about: "The longest delay."),
    ]
  }
}

extension TOMLConverter<[String]> {
  /// `["sat", "sun"]`; the names are checked when the window is made.
  fileprivate static var weekdays: Self {
    let names = Self.list(.string)
    return Self("list of \"mon\" to \"sun\"", text: names.text) { value, path, reader in
      guard let days = names.convert(value, path, reader) else { return nil }
      guard !days.isEmpty else {
        reader.report(path, "\(path): names no day, so that it would never open: name one, or leave days out for every day")
        return nil
      }
      return days
    }
  }
}

extension TOMLConverter<Conditions> {
  /// A list of their names.
  static var conditions: Self {
    let list = TOMLConverter<[Conditions]>.list(
      .choice(among: Conditions.named.map(\.name), name: { $0.names.joined(separator: " and ") }) { Conditions(name: $0) })
    return Self(list.type, text: { TOMLText.list($0.names.map(TOMLText.quoted)) }) { value, path, reader in
      list.convert(value, path, reader).map { Conditions($0) }
    }
  }
}

extension TOMLConverter<Rate> {
  /// `"100/1m"`.
  static var rate: Self {
    .text("a rate such as \"100/1m\"") { text, _ throws(TextProblem) in
      do { return try Rate(text) } catch { throw TextProblem("\(error)") }
    }
  }
}

extension TOMLConverter<FairBy> {
  /// `"payload.tenant"`.
  fileprivate static var fairBy: Self {
    .text("what tells tenants apart, such as \"payload.tenant\"") { text, _ throws(TextProblem) in
      guard let fairBy = FairBy(text) else {
        throw TextProblem("\"\(text)\": write \"payload.MEMBER\" for a member of the payload, or \"concurrency_key\"")
      }
      return fairBy
    }
  }
}

extension TOMLConverter<RunQuota> {
  /// `"30m/1d"`, or a table with such a text for each bucket.
  static var quota: Self {
    let one = Self.text("a quota of run time such as \"30m/1d\", a table with one for each bucket, or \"none\"") {
      text, _ throws(TextProblem) in
      do { return try RunQuota(text) } catch { throw TextProblem("\(error)") }
    }
    let names = BehaviourBucket.allCases.map(\.rawValue)
    func text(_ quota: RunQuota) -> String {
      let words = quota.description.split(separator: ", ").map { $0.split(separator: " ").map(String.init) }
      guard words.allSatisfy({ $0.count == 2 }) else { return TOMLText.quoted(quota.description) }
      return TOMLText.table(words.map { (key: $0[0], value: TOMLText.quoted($0[1])) })
    }
    return Self("run time and period such as \"30m/1d\", a table with one for each bucket, or \"none\"", text: text) {
      value, path, reader in
      guard case .table(let table) = value else { return one.convert(value, path, reader) }
      for name in table.keys.sorted() where !names.contains(name) { reader.reportUnknown(name, at: path.appending(name), known: names) }
      var quotas: [BehaviourBucket: RunQuota] = [:]
      if let missing = names.first(where: { table[$0] == nil }) {
        reader.report(path, "\(path) has no \"\(missing)\": name a quota for each of \(names.joined(separator: ", "))")
      }
      for bucket in BehaviourBucket.allCases {
        quotas[bucket] = table[bucket.rawValue].flatMap { one.convert($0, path.appending(bucket.rawValue), reader) }
      }
      return RunQuota(buckets: quotas)
    }
  }
}

extension TOMLConverter<Double> {
  static func number(_ range: ClosedRange<Double>) -> Self {
    Self("number, \(TOMLText.number(range.lowerBound)) to \(TOMLText.number(range.upperBound))", text: TOMLText.number) {
      value, path, reader in
      let number: Double
      switch value {
      case .integer(let integer): number = Double(integer)
      case .number(let float): number = float
      default:
        reader.reportType(value, at: path, expected: "a number")
        return nil
      }
      guard range.contains(number) else {
        reader.report(path, "\(path): \(number) is not in \(range.lowerBound) to \(range.upperBound)")
        return nil
      }
      return number
    }
  }

  /// A number from 0 to 100, or a string such as `"5%"`.
  static var percent: Self {
    let number = Self.number(0...100)
    return Self("share in percent, such as 5 or \"5%\"", text: TOMLText.number) { value, path, reader in
      guard case .string(let text) = value else { return number.convert(value, path, reader) }
      guard text.hasSuffix("%"), let percent = Double(text.dropLast()), (0...100).contains(percent) else {
        reader.report(path, "\(path): expected a share such as \"5%\" or 5, found \"\(text)\"")
        return nil
      }
      return percent
    }
  }
}

extension TOMLConverter<UInt64> {
  /// A size of storage.
  static var storage: Self {
    let bytes = TOMLConverter<Int>.byteCount(0...(1 << 50))
    return Self(bytes.type, text: { bytes.text(Int(clamping: $0)) }) { value, path, reader in
      bytes.convert(value, path, reader).map { UInt64($0) }
    }
  }
}

extension TOMLConverter<String> {
  /// The hosts of a fleet that get a request first.
  static var preference: Self {
    .text("a label or the name of hosts, or \"\(Preference.lastHost)\"") { text, _ throws(TextProblem) in
      do throws(RequestRefusal) { try RequestField.prefer.check(key: text, printable: true) } catch { throw TextProblem(error.message) }
      return text
    }
  }
}

extension TOMLConverter<[String: Int]> {
  /// A table of whole numbers by names of 1 to 256 bytes.
  static func counts(_ range: ClosedRange<Int>) -> Self {
    let count = TOMLConverter<Int>.integer(range)
    return Self(
      "table of \(count.type), by name", text: { TOMLText.table($0.map { (key: $0.key, value: count.text($0.value)) }) }
    ) { value, path, reader in
      guard let table = reader.table(value, at: path) else { return nil }
      var counts: [String: Int] = [:]
      for (name, value) in table.sorted(by: { $0.key < $1.key }) {
        let path = path.appending(name)
        guard reader.isName(name, at: path, "the name of a resource") else { continue }
        counts[name] = count.convert(value, path, reader)
      }
      return counts
    }
  }
}
