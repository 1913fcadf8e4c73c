import TestSupport
import TaskModel
import Testing

@testable import HostConditions

@Suite("Conditions as they come to be known") struct ConditionCoreTests {
  private static func wall(_ second: Int64) -> WallTime { WallTime(unixMilliseconds: 1_800_000_000_000 + second * 1000) }
  private static func at(_ second: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: second * 1_000_000_000) }

  /// A core and readings of it at seconds.
  private struct Case {
    var core = ConditionCore(settings: ConditionSettings(), at: wall(0))

    mutating func interest(_ conditions: Conditions, _ second: Int64) { core.setInterest(conditions, at: wall(second)) }

    mutating func see(_ condition: Conditions, _ leaning: Leaning, _ second: Int64, _ observed: String = "seen") {
      core.observe([(condition, Reading(leaning: leaning, observed: observed))], at: at(second), wall: wall(second))
    }

    subscript(condition: Conditions) -> ConditionState {
      get throws {
        guard let state = core.report[condition] else { throw TestFailure("no state") }
        return state
      }
    }
  }

  @Test("the report has all conditions, in the order of their names") func order() {
    #expect(Case().core.report.states.map(\.condition) == Conditions.named.map(\.condition))
  }

  @Test("without interest nothing is due, nothing holds, and readings change nothing") func noInterest() throws {
    var it = Case()
    it.see(.network, .holds, 1)
    #expect(it.core.report.held == [])
    #expect(it.core.nextDue == nil)
    #expect(it.core.due(at: .distantFuture) == [])
    #expect(try it[.network].isWatched == false)
  }

  @Test("what is of new interest is due at once, and holds when it was seen to") func newInterest() throws {
    var it = Case()
    it.interest([.power, .network], 1)
    #expect(it.core.due(at: Self.at(1)) == [.power, .network])
    #expect(it.core.report.held == [])
    it.see(.power, .holds, 1)
    #expect(it.core.due(at: Self.at(1)) == .network)
    #expect(it.core.report.held == .power)
  }

  @Test("what tells by itself is due no more, what does not is due again after its time") func due() throws {
    var it = Case()
    it.interest([.network, .storageNotLow, .idle], 0)
    for condition in [Conditions.network, .storageNotLow] { it.see(condition, .holds, 0) }
    it.see(.idle, .lost, 0)
    #expect(it.core.nextDue == Self.at(15))
    #expect(it.core.due(at: Self.at(59)) == .idle)
    #expect(it.core.due(at: Self.at(60)) == [.idle, .storageNotLow])
  }

  @Test("what settles is due when it settles, sooner than by its time") func settles() throws {
    var it = Case()
    it.interest(.power, 0)
    it.see(.power, .lost, 0)
    it.see(.power, .holds, 10)
    #expect(it.core.nextDue == Self.at(15))
    #expect(try it[.power].settlesAt == Self.wall(15))
    it.see(.power, .holds, 15)
    #expect(try it[.power].holds)
    #expect(try it[.power].settlesAt == nil)
    #expect(try it[.power].since == Self.wall(15))
  }

  @Test("interest that comes back remembers nothing from before") func forgets() throws {
    var it = Case()
    it.interest(.storageNotLow, 0)
    it.see(.storageNotLow, .holds, 0)
    it.interest([], 10)
    #expect(it.core.report.held == [])
    it.interest(.storageNotLow, 1000)
    #expect(it.core.report.held == [])
    #expect(try it[.storageNotLow].observed == "not read yet")
    #expect(it.core.due(at: Self.at(1000)) == .storageNotLow)
  }

  @Test("interest that stays keeps what was seen") func keeps() throws {
    var it = Case()
    it.interest(.storageNotLow, 0)
    it.see(.storageNotLow, .holds, 0)
    it.interest([.storageNotLow, .power], 10)
    #expect(it.core.report.held == .storageNotLow)
    #expect(try it[.storageNotLow].since == Self.wall(0))
  }

  @Test("an override wins over readings, with or without interest, until it is cleared", arguments: [true, false])
  func override(_ holds: Bool) throws {
    var it = Case()
    it.interest(.power, 0)
    it.see(.power, holds ? .lost : .holds, 0)
    it.core.override([.power, .idle], holds: holds, at: Self.wall(5))
    #expect(try it[.power].holds == holds)
    #expect(try it[.power].isOverridden)
    #expect(try it[.power].since == Self.wall(5))
    #expect(try it[.power].observed == "overridden to \(holds ? "hold" : "not hold"); seen")
    #expect(try it[.idle].holds == holds)
    it.interest([], 6)
    #expect(try it[.power].holds == holds)
    it.interest(.power, 6)
    it.see(.power, holds ? .lost : .holds, 7)
    #expect(try it[.power].since == Self.wall(5))
    it.core.override([.power, .idle], holds: nil, at: Self.wall(8))
    #expect(try it[.power].holds != holds)
    #expect(try it[.power].since == Self.wall(8))
    #expect(try it[.power].observed == "seen")
    #expect(try it[.idle].holds == false)
  }

  @Test("an override is since it was given: the same word again changes nothing, one from before has its own time")
  func overriddenSince() throws {
    var it = Case()
    it.core.override(.idle, holds: false, at: Self.wall(5))
    #expect(try it[.idle].since == Self.wall(5))
    it.core.override(.idle, holds: false, at: Self.wall(9))
    #expect(try it[.idle].since == Self.wall(5))
    it.core.override(.idle, holds: false, since: Self.wall(2), at: Self.wall(10))
    #expect(try it[.idle].since == Self.wall(2))
    it.core.override(.idle, holds: true, at: Self.wall(11))
    #expect(try it[.idle].since == Self.wall(11))
  }

  @Test("without network nothing is unmetered, unless that is overridden itself") func denied() throws {
    var it = Case()
    it.interest([.network, .unmetered], 0)
    it.see(.network, .holds, 0)
    it.see(.unmetered, .holds, 0)
    it.core.override(.network, holds: false, at: Self.wall(1))
    #expect(it.core.report.held == [])
    #expect(try it[.unmetered].isOverridden == false)
    #expect(try it[.unmetered].observed == "network is overridden to not hold; seen")
    it.core.override(.unmetered, holds: true, at: Self.wall(2))
    #expect(it.core.report.held == .unmetered)
    it.core.override(.all, holds: nil, at: Self.wall(3))
    #expect(it.core.report.held == [.network, .unmetered])
  }

  @Test("what the machine does not tell holds, and says so") func unknown() throws {
    var it = Case()
    it.interest(.idle, 0)
    it.see(.idle, .unknown, 0, "no file")
    #expect(try it[.idle].holds)
    #expect(try it[.idle].isKnown == false)
    it.see(.idle, .lost, 15)
    it.see(.idle, .lost, 20)
    #expect(try it[.idle].holds == false)
    #expect(try it[.idle].isKnown)
  }

  @Test("a look shows what is not observed as it is now, and keeps nothing of it") func look() throws {
    var it = Case()
    it.interest(.power, 0)
    it.see(.power, .holds, 0)
    let readings = Conditions.named.map { (condition: $0.condition, reading: Reading(leaning: .lost, observed: "looked at")) }
    let report = it.core.report(lookingAt: readings, at: Self.at(5), wall: Self.wall(5))
    #expect(report.held == .power)
    #expect(report[.power]?.observed == "seen")
    #expect(report[.idle]?.observed == "looked at")
    #expect(report[.idle]?.isWatched == false)
    #expect(try it[.idle].observed == "not observed: no request that is due waits for it")
  }
}
