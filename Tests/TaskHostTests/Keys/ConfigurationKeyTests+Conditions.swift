import TaskModel
import Testing

@testable import HostConditions
@testable import TaskHost

extension ConfigurationKeyTests {
  /// What the text makes of the conditions.
  private static func settings(_ text: String) throws -> ConditionSettings {
    try HostConfiguration.parse("[conditions]\n\(text)", file: "/etc/t.toml").observedConditions
  }

  /// How long a condition takes to change, when the machine has changed: once it holds, after it was lost; or the other way round.
  private static func settles(_ text: String, _ condition: Conditions, to leaning: Leaning) throws -> Duration? {
    let wall = WallTime(unixMilliseconds: 1_800_000_000_000)
    var core = ConditionCore(settings: try settings(text), at: wall)
    core.setInterest(condition, at: wall)
    let other: Leaning = leaning == .holds ? .lost : .holds
    // Long enough for any state to be settled in.
    for (second, leaning) in [(0, other), (200_000, other), (400_000, leaning)] as [(Int64, Leaning)] {
      let at = MonotonicTime(nanoseconds: second * 1_000_000_000)
      core.observe([(condition, Reading(leaning: leaning, observed: ""))], at: at, wall: wall + .seconds(second))
    }
    return core.report[condition]?.settlesAt.map { $0 - (wall + .seconds(400_000)) }
  }

  /// How long until a condition is read again that does not tell by itself.
  private static func rereads(_ text: String, _ condition: Conditions) throws -> MonotonicTime? {
    let wall = WallTime(unixMilliseconds: 1_800_000_000_000)
    var core = ConditionCore(settings: try settings(text), at: wall)
    core.setInterest(condition, at: wall)
    core.observe([(condition, Reading(leaning: .lost, observed: ""))], at: MonotonicTime(nanoseconds: 0), wall: wall)
    return core.nextDue
  }

  private static func storage(_ text: String, free: UInt64) throws -> Leaning {
    StorageRule(try settings(text)).storage(free: free, total: 100 << 30).leaning
  }

  private static func idle(_ text: String, load: Double? = nil, pressure: Double? = nil) throws -> Leaning {
    IdleRule(try settings(text)).idle(loadPerProcessor: load, processorPressure: pressure, diskPressure: nil).leaning
  }

  private static func battery(_ text: String, _ percent: Double) throws -> Leaning {
    let settings = try settings(text)
    return PowerRule(low: settings.batteryLow, okay: settings.batteryOK).charge.leaning(percent)
  }

  private static func seconds(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  /// `[conditions]`.
  static let conditionProofs: [String: KeyProof] = [
    "conditions.network_holds_after": .here { () throws in
      #expect(try settles("network_holds_after = \"7s\"", .network, to: .holds) == .seconds(7))
    },
    "conditions.network_lost_after": .here { () throws in
      #expect(try settles("network_lost_after = \"7s\"", .network, to: .lost) == .seconds(7))
    },
    "conditions.power_holds_after": .here { () throws in
      #expect(try settles("power_holds_after = \"7s\"", .power, to: .holds) == .seconds(7))
    },
    "conditions.power_lost_after": .here { () throws in #expect(try settles("power_lost_after = \"7s\"", .power, to: .lost) == .seconds(7))
    },
    "conditions.power_every": .here { () throws in #expect(try rereads("power_every = \"7s\"", .batteryNotLow) == seconds(7)) },
    "conditions.battery_low": .here { () throws in
      #expect(try battery("battery_low = 10", 9.9) == .lost && battery("battery_low = 10", 10.1) != .lost)
    },
    "conditions.battery_ok": .here { () throws in
      #expect(try battery("battery_ok = \"50%\"", 50) == .holds && battery("battery_ok = \"50%\"", 49.9) != .holds)
    },
    "conditions.idle_load": .here { () throws in
      #expect(try idle("idle_load = 0.5", load: 0.5) == .holds && idle("idle_load = 0.5", load: 0.51) != .holds)
    },
    "conditions.busy_load": .here { () throws in
      #expect(try idle("busy_load = 0.9", load: 0.91) == .lost && idle("busy_load = 0.9", load: 0.89) != .lost)
    },
    "conditions.idle_pressure": .here { () throws in
      #expect(try idle("idle_pressure = 8", pressure: 8) == .holds && idle("idle_pressure = 8", pressure: 8.1) != .holds)
    },
    "conditions.busy_pressure": .here { () throws in
      #expect(try idle("busy_pressure = 30", pressure: 30.1) == .lost && idle("busy_pressure = 30", pressure: 29.9) != .lost)
    },
    "conditions.idle_holds_after": .here { () throws in #expect(try settles("idle_holds_after = \"7s\"", .idle, to: .holds) == .seconds(7))
    },
    "conditions.idle_lost_after": .here { () throws in #expect(try settles("idle_lost_after = \"7s\"", .idle, to: .lost) == .seconds(7)) },
    "conditions.idle_every": .here { () throws in #expect(try rereads("idle_every = \"7s\"", .idle) == seconds(7)) },
    "conditions.storage_low": .here { () throws in
      #expect(try storage("storage_low = 6", free: 5 << 30) == .lost && storage("storage_low = 6", free: 6_500_000_000) != .lost)
    },
    "conditions.storage_ok": .here { () throws in
      #expect(try storage("storage_ok = 20", free: 21 << 30) == .holds && storage("storage_ok = 20", free: 19 << 30) != .holds)
    },
    "conditions.storage_low_bytes": .here { () throws in
      let text = "storage_low_bytes = \"30GiB\"\nstorage_ok_bytes = \"40GiB\""
      #expect(try storage(text, free: 29 << 30) == .lost && storage(text, free: 31 << 30) != .lost)
    },
    "conditions.storage_ok_bytes": .here { () throws in
      let text = "storage_ok_bytes = \"40GiB\""
      #expect(try storage(text, free: 41 << 30) == .holds && storage(text, free: 39 << 30) != .holds)
    },
    "conditions.storage_every": .here { () throws in #expect(try rereads("storage_every = \"7s\"", .storageNotLow) == seconds(7)) },
  ]
}
