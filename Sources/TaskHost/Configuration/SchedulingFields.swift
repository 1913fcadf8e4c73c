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
        TOMLField("from", \.from, .string), TOMLField("to", \.to, .string), TOMLField("days", \.days, .weekdays),
        TOMLField("time_zone", \.timeZone, .string),
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
        TOMLField("stages", optional: \.stages, .bool), TOMLField("light_after", \.times.lightAfter, time),
        TOMLField("deep_after", \.times.deepAfter, time),
      ]
    }
  }

  /// The idle stages; nil if the machine has none.
  var idleStages: IdleStages? { idle.stages ?? profile.hasIdleStages ? idle.times : nil }

  static var schedulingFields: [TOMLField<HostConfiguration>] {
    [
      TOMLField("profile", \.profile, .choice()),
      TOMLField("idle", \.idle, table: Idle.fields),
      TOMLField("rate_limit", optional: \.rateLimit, .rate),
      TOMLField("event_quota", optional: \.eventQuota, .rate),
      TOMLField("resources", \.resources, .counts(Limits.resourceTokens)),
      TOMLField("conditions", \.conditions, table: ConditionSettings.fields),
      TOMLField("events", inner: EventSocketTable.keys) { root, value, path, reader in
        root.events = EventSocketTable.readAll(value, at: path, reader)
      },
      TOMLField("windows", inner: Window.fields.flatMap(\.keys).map { "*.\($0)" }) { root, value, path, reader in
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
      TOMLField("network_holds_after", \.networkHoldsAfter, wait), TOMLField("network_lost_after", \.networkLostAfter, wait),
      TOMLField("power_holds_after", \.powerHoldsAfter, wait), TOMLField("power_lost_after", \.powerLostAfter, wait),
      TOMLField("power_every", \.powerEvery, every),
      TOMLField("battery_low", \.batteryLow, .percent), TOMLField("battery_ok", \.batteryOK, .percent),
      TOMLField("idle_load", \.idleLoad, .number(0...1000)), TOMLField("busy_load", \.busyLoad, .number(0...1000)),
      TOMLField("idle_pressure", \.idlePressure, .percent), TOMLField("busy_pressure", \.busyPressure, .percent),
      TOMLField("idle_holds_after", \.idleHoldsAfter, wait), TOMLField("idle_lost_after", \.idleLostAfter, wait),
      TOMLField("idle_every", \.idleEvery, every),
      TOMLField("storage_low", \.storageLow, .percent), TOMLField("storage_ok", \.storageOK, .percent),
      TOMLField("storage_low_bytes", \.storageLowBytes, .storage), TOMLField("storage_ok_bytes", \.storageOKBytes, .storage),
      TOMLField("storage_every", \.storageEvery, every),
    ]
  }
}

extension PluginConfiguration {
  static var schedulingFields: [TOMLField<PluginConfiguration>] {
    [
      TOMLField("schedule") { root, value, path, reader in
        guard let (rule, event) = TOMLConverter.schedule.convert(value, path, reader) else { return }
        (root.schedule, root.event) = (rule, event)
      },
      TOMLField("jitter", \.jitter, .duration(.zero...TaskModel.Limits.longestDuration)),
      TOMLField("wake", \.wakes, .bool),
      TOMLField("requires", \.requires, .conditions),
      TOMLField("on_lost_condition", optional: \.scheduling.onLostCondition, .choice()),
      TOMLField("window", optional: \.scheduling.window, .string),
      TOMLField("rate_limit", optional: \.scheduling.rate, .rate),
      TOMLField("rate_limit_per_key", optional: \.scheduling.ratePerKey, .rate),
      TOMLField("fair_by", optional: \.scheduling.fairBy, .fairBy),
      TOMLField("runs_per_key", \.scheduling.runsPerKey, .integer(1...10_000)),
      TOMLField("resources", \.scheduling.resources, .counts(TaskModel.Limits.resourceTokens)),
      TOMLField("quota") { root, value, path, reader in
        if case .string("none") = value {
          root.scheduling.hasNoQuota = true
        } else {
          root.scheduling.quota = TOMLConverter.quota.convert(value, path, reader)
        }
      },
      TOMLField("expect_within", optional: \.scheduling.expectWithin, .duration(.seconds(1)...TaskModel.Limits.longestDuration)),
      TOMLField("start_within", optional: \.scheduling.startWithin, .duration(.seconds(1)...TaskModel.Limits.longestDuration)),
      TOMLField("retry", \.retry, table: Retry.fields),
    ]
  }
}

extension PluginConfiguration.Retry {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("attempts", optional: \.attempts, .integer(Limits.attempts)),
      TOMLField("backoff", optional: \.backoff, .choice()),
      TOMLField("initial", optional: \.initial, .duration(Limits.retryDelays)),
      TOMLField("maximum", optional: \.maximum, .duration(Limits.retryDelays)),
    ]
  }
}

extension TOMLConverter<[String]> {
  /// `["sat", "sun"]`; the names are checked when the window is made.
  fileprivate static var weekdays: Self {
    let names = Self.list(.string)
    return Self { value, path, reader in
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
    let list = TOMLConverter<[Conditions]>.list(.choice(among: Conditions.named.map(\.name)) { Conditions(name: $0) })
    return Self { value, path, reader in list.convert(value, path, reader).map { Conditions($0) } }
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
    return Self { value, path, reader in
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
    Self { value, path, reader in
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
    return Self { value, path, reader in
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
    return Self { value, path, reader in bytes.convert(value, path, reader).map { UInt64($0) } }
  }
}

extension TOMLConverter<[String: Int]> {
  /// A table of whole numbers by names of 1 to 256 bytes.
  static func counts(_ range: ClosedRange<Int>) -> Self {
    let count = TOMLConverter<Int>.integer(range)
    return Self { value, path, reader in
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
