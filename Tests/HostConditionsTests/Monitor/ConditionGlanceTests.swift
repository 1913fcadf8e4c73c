import TaskModel
import Testing

@testable import HostConditions

@Suite("What can become of a condition") struct ConditionGlanceTests {
  private static let loopback = NetworkLink(index: 1, name: "lo", isLoopback: true, isUp: true)
  private static let down = NetworkLink(index: 2, name: "eth0", isLoopback: false, isUp: false)

  @Test("a network can come as long as there is an interface, and is metered for ever only if all are")
  func network() {
    func prospects(_ links: [NetworkLink], metered: Set<String> = []) -> [ConditionGlance.Prospect] {
      let rule = NetworkRule(meteredInterfaces: metered)
      return [.network, .unmetered].map { ConditionGlance.network($0, NetworkTable(links: links), rule, bus: nil).prospect }
    }
    #expect(prospects([Self.loopback]) == [.never, .never])
    #expect(prospects([Self.loopback, Self.down]) == [.lost, .lost])
    #expect(prospects([Self.loopback, Self.down], metered: ["eth0"]) == [.lost, .never])
    #expect(prospects([Self.loopback, Self.down], metered: ["wwan0"]) == [.lost, .lost])
  }

  @Test("the best state of the machine decides: lost there is lost for ever")
  func best() {
    func prospect(_ now: Leaning, _ best: Leaning) -> ConditionGlance.Prospect {
      ConditionGlance(.power, now: Reading(leaning: now, observed: ""), best: [Reading(leaning: best, observed: "")]).prospect
    }
    #expect(prospect(.holds, .lost) == .holds && prospect(.neither, .lost) == .holds && prospect(.unknown, .lost) == .unknown)
    #expect(prospect(.lost, .holds) == .lost && prospect(.lost, .neither) == .lost && prospect(.lost, .lost) == .never)
  }
}
