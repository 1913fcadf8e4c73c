import HostThreads
import TaskModel
import TaskStore
import Testing

@testable import FleetStore

/// What is large goes in and out in parts.
@Suite("Fleet: sizes") struct FleetSizeTests {
  @Test("statements have at most 250 requests and a MiB, and the first of several has few")
  func parts() {
    #expect(FleetSession.parts(of: 0) { _ in 1 } == [0..<0])
    #expect(FleetSession.parts(of: 250) { _ in 1 } == [0..<250])
    #expect(FleetSession.parts(of: 600) { _ in 1 } == [0..<50, 50..<300, 300..<550, 550..<600])
    #expect(FleetSession.parts(of: 5) { $0 == 1 ? 2 << 20 : 400_000 } == [0..<1, 1..<2, 2..<4, 4..<5])
  }

  /// libpq moves what it has left for each part that the server takes: as one statement, this took minutes.
  @Test("hundreds of large checkpoints are recorded as fast as they are sent, and claimed again no more at once than a host can hold")
  func large() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue((0..<200).map { _ in try fleet.draft() })
    let checkpoint = [UInt8](repeating: 7, count: Limits.stateValueBytes)
    let settled = try fleet.claim(host, 200).map { claim in
      var settled = try fleet.settled(claim, as: .retried)
      settled.checkpoint = checkpoint
      return settled
    }
    #expect(settled.count == 200)
    #expect(try fleet.session.record(host, settled, tells: false).isEmpty)
    var claimed = 0
    while claimed < 200 {
      let claims = try fleet.claim(host, 200)
      try #require(!claims.isEmpty)
      #expect(claims.allSatisfy { $0.checkpoint == checkpoint })
      #expect(claims.reduce(0) { $0 + $1.bytes } <= ClaimedRequest.bytesTogether)
      claimed += claims.count
    }
    #expect(claimed == 200)
  }

  @Test(
    "a payload, an event's payload or a checkpoint that no host could have written is not handed out",
    arguments: [
      "payload", "event_payload", "checkpoint",
    ])
  func excessive(_ column: String) throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    _ = try fleet.session.enqueue([try fleet.draft()])
    _ = try fleet.session.ask(
      PostgresStatement("UPDATE taskhost.request SET \(column) = convert_to(repeat('x', \(Limits.stateValueBytes + 1)), 'UTF8')"))
    let claims = try fleet.claim(host, 1)
    #expect(throws: RecordText.Flaw.self) { try #require(claims.first).record.get() }
  }

  @Test("needs and paths that no index entry could have are stored, and found again")
  func long() throws {
    let fleet = try TestFleet()
    let host = try fleet.join()
    var request = TaskRequest(identifier: fleet.identifier)
    request.gates.resources = TestFleet.longResources
    let lane = try fleet.session.lane(Lane(fleet.identifier, request.gates))
    #expect(try fleet.session.lane(Lane(fleet.identifier, request.gates)) == lane)
    request.gates.resources["one more"] = 1
    #expect(try fleet.session.lane(Lane(fleet.identifier, request.gates)) != lane)
    let path = "file:/" + TestFleet.noise(4000)
    request.event = EventTrigger(path, debounce: .zero)
    var draft = try fleet.draft()
    (draft.record.request, draft.lane) = (request, lane)
    let ids = try fleet.session.enqueue([draft])
    #expect(try fleet.session.waiting(forEvent: path) == ids)
    #expect(try fleet.session.take(host, ids).map { try $0.record.get().request.event?.name } == [path])
  }
}
