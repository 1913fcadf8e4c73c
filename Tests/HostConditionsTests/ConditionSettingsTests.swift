import HostConditions
import TaskModel
import Testing

@Suite("Settings of conditions") struct ConditionSettingsTests {
  @Test("the defaults contradict nothing") func defaults() { #expect(ConditionSettings().problems.isEmpty) }

  @Test("each contradiction is named by its keys, all at once") func problems() {
    var settings = ConditionSettings()
    settings.batteryLow = 30
    settings.busyPressure = 120
    settings.idleEvery = .milliseconds(10)
    settings.networkLostAfter = .seconds(-1)
    settings.storageLowBytes = 1 << 40
    settings.busyLoad = .nan
    let problems = settings.problems
    #expect(problems.count == 6)
    for key in ["battery_low", "busy_pressure", "idle_every", "network_lost_after", "storage_low_bytes", "busy_load"] {
      #expect(problems.contains { $0.contains(key) }, "\(key)")
    }
  }
}
