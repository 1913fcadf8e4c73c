import TaskModel
import Testing

@Suite("Condition report") struct ConditionReportTests {
  private let report = ConditionReport(
    states: Conditions.named.map {
      ConditionState(condition: $0.condition, holds: $0.name != "idle", since: WallTime(unixMilliseconds: 1), observed: $0.name)
    })

  @Test("what is held is what the states say") func held() { #expect(report.held == Conditions.all.subtracting(.idle)) }

  @Test("a condition is found by itself, not among others") func find() {
    #expect(report[.power]?.observed == "power")
    #expect(report[[.power, .idle]] == nil)
    #expect(report[[]] == nil)
  }

  @Test("other sentences decide the same, another state does not") func decides() {
    var other = report
    other.states[0].observed = "otherwise"
    #expect(report.decides(as: other))
    other.states[0].settlesAt = WallTime(unixMilliseconds: 2)
    #expect(!report.decides(as: other))
    #expect(!report.decides(as: ConditionReport(states: [])))
  }
}
