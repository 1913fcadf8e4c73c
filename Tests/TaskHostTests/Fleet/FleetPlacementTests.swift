import FleetStore
import TaskModel
import Testing

@testable import TaskHost

/// What holds a request of the fleet, in the words of its hosts.
struct FleetPlacementTests {
  private let record: RequestRecord
  private let due = WallTime(unixMilliseconds: 5000)

  init() throws {
    var request = TaskRequest(identifier: try TaskIdentifier("org.example.task"))
    request.gates.prefer = "c"
    record = RequestRecord(
      id: RequestID(sequence: 1, origin: 2), request: request, state: .pending, due: due, submitted: WallTime(unixMilliseconds: 0))
  }

  private func placed(
    _ gates: [Gate], at hosts: [(String, String?)], preferred: [String] = [], start: WallTime? = nil
  ) -> RequestExplanation {
    var placement = FleetPlacement()
    placement.hosts = hosts.map { ($0.0, $0.1) }
    if !preferred.isEmpty { placement.preferred = (preferred, due + .seconds(5)) }
    var explanation = RequestExplanation(id: record.id, gates: gates, earliestStart: start)
    explanation.place(placement, of: record, at: "a")
    return explanation
  }

  private var time: Gate { Gate(kind: "time", sentence: "due", until: due) }
  private let power = Gate(kind: "conditions", sentence: "power does not hold")

  @Test("what holds it on this host is said before it is due, and while the others have not looked")
  func early() {
    let early = placed([time, power], at: [("a", nil), ("b", nil)])
    #expect(early.gates.map(\.kind) == ["time", "host"] && early.gates[1].sentence == "a: power does not hold")
    #expect(early.earliestStart == due, "b may take it then")
    let due = placed([power], at: [("a", nil), ("b", nil)])
    #expect(due.gates.map(\.sentence) == ["a: power does not hold"])
    let alone = placed([time, power], at: [("a", nil)], start: self.due)
    #expect(alone.gates.map(\.kind) == ["time", "host"] && alone.earliestStart == nil)
    #expect(placed([time], at: []).gates.map(\.kind) == ["time", "no_handler"])
    #expect(placed([], at: [("a", nil), ("b", "it is busy")]).gates.map(\.sentence) == ["b: it is busy"])
  }

  @Test("a preference holds nobody who is preferred: the request may start when it is due")
  func preferred() {
    let early = placed([time], at: [("a", nil), ("c", nil)], preferred: ["c"])
    #expect(early.gates.map(\.kind) == ["time", "prefer"])
    #expect(early.earliestStart == due)
  }
}
