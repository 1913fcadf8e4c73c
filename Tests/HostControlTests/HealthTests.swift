import ControlTestSupport
import StrictText
import TaskModel
import Testing

@Suite("Health over HTTP") struct HealthTests {
  @Test("a host that takes and runs requests is well; one whose store failed, or that drains, is not, and says why")
  func health() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let well = try await client.send("GET", "/healthz")
      #expect(well.status == 200)
      #expect(well.node["phase"]?.string == "launched" && well.node["problem"] == nil)
      host.setStoreProblem("no space left")
      let failed = try await client.send("GET", "/healthz")
      #expect(failed.status == 503)
      #expect(failed.node["phase"]?.string == "launched" && failed.node["problem"]?.string == "the store: no space left")
      host.setStoreProblem(nil)
      #expect(try await client.send("GET", "/healthz").status == 200)
      _ = try await client.send("POST", "/v1/shutdown")
      let draining = try await client.send("GET", "/healthz")
      #expect(draining.status == 503)
      #expect(draining.node["phase"]?.string == "draining" && draining.node["problem"]?.string == "the host is draining")
    }
  }

  @Test("who cancels the request of a configured schedule is told that the configuration brings it back")
  func cancelledSchedule() async throws {
    let host = MemoryHost()
    let ids = [RequestID(sequence: 1, origin: 1), RequestID(sequence: 2, origin: 1)]
    for (id, key) in zip(ids, [TaskRequest.scheduleKeyPrefix + "a", "mine"]) {
      var request = TaskRequest(identifier: try TaskIdentifier("a"))
      request.uniqueKey = key
      let zero = WallTime(unixMilliseconds: 0)
      host.put(RequestRecord(id: id, request: request, state: .pending, due: zero, submitted: zero))
    }
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let schedule = try await client.send("DELETE", "/v1/requests/\(ids[0])")
      #expect(schedule.node["state"]?.string == "cancelled")
      #expect(schedule.node["notes"]?.array?.first?.string?.contains("schedule of a in the configuration") == true)
      #expect(try await client.send("DELETE", "/v1/requests/\(ids[1])").node["notes"] == nil)
    }
  }
}
