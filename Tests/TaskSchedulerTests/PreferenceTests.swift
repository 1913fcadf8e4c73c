import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Preferences") struct PreferenceTests {
  private func request(_ prefer: String, _ change: (inout TaskRequest) -> Void = { _ in }) -> TaskRequest {
    var request = TaskRequest.sample(key: "k", onConflict: .update)
    request.gates.prefer = prefer
    change(&request)
    return request
  }

  @Test("a host that shares the identifier with nobody keeps a preference, runs the request as any other, and says so")
  func plain() throws {
    let world = try World()
    let submission = try world.submit(request("eu-west"))
    #expect(submission.notes == ["prefer has no effect: the identifier's requests stay on this host, as its scope is not \"fleet\""])
    #expect(try world.record(submission.id).request.gates.prefer == "eu-west")
    #expect(world.begun == [submission.id])
  }

  @Test("last_host prefers nobody until the request has run, and no label does what last_host does")
  func lastHost() {
    var gates = RunConstraints.none
    gates.note(lastHost: "a")
    #expect(gates.preferredHosts == nil && gates == .none)
    gates.prefer = "eu-west"
    gates.note(lastHost: "a")
    #expect(gates.preferredHosts == "eu-west" && gates.lastHost == nil)
    gates.prefer = Preference.lastHost
    #expect(gates.preferredHosts == nil)
    gates.note(lastHost: "a")
    #expect(gates.preferredHosts == "a")
    #expect(gates.relaxed.preferredHosts == "a")
  }

  @Test("an update keeps where the request ran last, unless it prefers something else")
  func update() throws {
    let world = try World()
    let id = try world.submit(request("last_host") { $0.earliestBegin = .ms(60_000) }).id
    try world.turn { core, transaction in
      var record = try core.find(id, transaction)
      record.request.gates.note(lastHost: "a")
      try transaction.rewrite(record)
    }
    let same = try world.submit(request("last_host") { ($0.earliestBegin, $0.priority) = (.ms(60_000), 3) })
    #expect(same.notes.last == "the holder of the key takes: priority")
    #expect(try world.record(id).gates.preferredHosts == "a")
    let other = try world.submit(request("eu-west") { $0.earliestBegin = .ms(60_000) })
    #expect(other.notes.last == "the holder of the key takes: prefer, priority")
    #expect(try world.record(id).gates.preferredHosts == "eu-west")
    _ = try world.submit(request("last_host") { $0.earliestBegin = .ms(60_000) })
    #expect(try world.record(id).gates.preferredHosts == nil)
  }

  @Test("where a schedule ran last is no change of its configuration")
  func schedule() throws {
    let world = try World()
    let name = ScheduleName(.sample())
    var schedule = ScheduledRequest(every: .seconds(3600))
    schedule.gates.prefer = Preference.lastHost
    let (wanted, repetition) = (schedule.submission(of: name), schedule.repetition)
    var stored = RequestRecord.sample(1, origin: 1)
    stored.request = wanted
    stored.request.gates.note(lastHost: "a")
    func aligned(_ wanted: TaskRequest) throws -> RequestRecord? {
      try world.turn { [stored] core, _ in
        var record = stored
        record.request.retry = core.policy.retry(of: name.identifier)
        return try core.aligned(record, hasPayload: true, with: wanted, of: repetition, now: .ms(0))
      }
    }
    #expect(try aligned(wanted) == nil)
    var changed = wanted
    changed.priority = 1
    #expect(try aligned(changed)?.gates.preferredHosts == "a")
  }
}
