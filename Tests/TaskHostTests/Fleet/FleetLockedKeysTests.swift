import FleetStore
import TaskModel
import Testing

@testable import TaskHost
@testable import TaskScheduler

@Suite("Fleet: keys that another transaction holds") struct FleetLockedKeysTests {
  private static func submission(_ change: (inout TaskRequest) -> Void) throws -> [FleetSubmission] {
    var request = TaskRequest(identifier: try TaskIdentifier("a"))
    change(&request)
    let record = RequestRecord(
      id: RequestID(sequence: 0, origin: 1), request: request, state: .pending, due: .distantPast, submitted: .distantPast)
    return [FleetSubmission(record: record, fingerprint: 0, notes: [])]
  }

  @Test("what shares a key or a lane without a number with one that waited in vain is refused at once, and nothing else")
  func shared() throws {
    var numbers = FleetLaneNumbers()
    numbers.note(1, of: Lane(try TaskIdentifier("a")))
    var keys = FleetLockedKeys()
    let held = try Self.submission { ($0.uniqueKey, $0.idempotencyKey, $0.gates.concurrencyKey) = ("u", "i", "c") }
    #expect(!keys.contain(held, numbers))
    keys.note(held, numbers)
    #expect(keys.contain(held, numbers))
    #expect(try keys.contain(Self.submission { $0.uniqueKey = "u" }, numbers))
    #expect(try keys.contain(Self.submission { $0.idempotencyKey = "i" }, numbers))
    #expect(try keys.contain(Self.submission { $0.gates.concurrencyKey = "c" }, numbers))
    #expect(try !keys.contain(Self.submission { $0.uniqueKey = "other" }, numbers))
    #expect(try !keys.contain(Self.submission { _ in }, numbers))
    numbers.note(2, of: held[0].record.lane)
    #expect(try !keys.contain(Self.submission { $0.gates.concurrencyKey = "c" }, numbers))
  }
}
