import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A schedule of the configuration") struct ScheduleTests {
  private let hourly: [ScheduleName: ScheduledRequest] = [ScheduleName(.sample()): ScheduledRequest(every: .seconds(3600))]

  private func only(_ world: World) throws -> RequestRecord {
    var query = RequestQuery()
    query.states = [.blocked, .pending, .running]
    let records = try world.store.requests(query)
    try #require(records.count == 1)
    return records[0]
  }

  @Test("a new line is a request that is due at once, under the key of its identifier")
  func new() throws {
    let world = try World()
    try world.restart(schedules: hourly)
    let record = try only(world)
    #expect(record.request.uniqueKey == "config:org.example.task")
    #expect(world.isRunning(record.id))
  }

  @Test("its interval is taken as the operator wrote it, and no cap refuses it")
  func trusted() throws {
    let world = try World(SchedulingPolicy(maxPending: 0))
    try world.restart(schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(5))])
    #expect(try only(world).request.repetition?.interval == .seconds(5))
  }

  @Test("an unchanged line keeps its request and its times over a restart")
  func unchanged() throws {
    let world = try World()
    try world.restart(schedules: hourly)
    let id = try only(world).id
    try world.finish(id, .success)
    world.now = world.now + .seconds(1000)
    try world.restart(schedules: hourly)
    #expect(try only(world).id == id)
    #expect(try only(world).due == .ms(3_600_000))
    #expect(try only(world).state == .pending)
  }

  @Test("a shorter interval brings the next time forward; a longer one waits for the time that was planned")
  func changed() throws {
    let world = try World()
    try world.restart(schedules: hourly)
    let id = try only(world).id
    try world.finish(id, .success)
    try world.restart(schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(600))])
    #expect(try only(world).id == id)
    #expect(try only(world).due == .ms(600_000))
    try world.advance(.seconds(600))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(1_200_000))
    try world.restart(schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(7200))])
    #expect(try world.record(id).due == .ms(1_200_000))
    try world.advance(to: .ms(1_200_000))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(8_400_000))
  }

  @Test("a line that is gone cancels its request, also one whose run was lost with the host")
  func removed() throws {
    let world = try World()
    try world.restart(schedules: hourly)
    let id = try only(world).id
    try world.restart()
    #expect(try world.record(id).state == .cancelled)
    #expect(world.orders.isEmpty)
  }

  @Test("a request of a plugin that is missing waits, and goes on as it was when the plugin is back")
  func missing() throws {
    let world = try World()
    try world.restart(schedules: hourly)
    let id = try only(world).id
    try world.finish(id, .success)
    try world.restart(handlers: [], schedules: hourly)
    try world.advance(.seconds(4000))
    #expect(try only(world).state == .pending)
    #expect(world.core.gates(of: try only(world), now: world.now) == ["no plugin has registered org.example.task"])
    try world.restart(schedules: hourly)
    #expect(world.isRunning(id))
    #expect(try only(world).occurrence == .ms(3_600_000))
  }

  @Test("a new line for a plugin that is missing makes its request once the plugin is there")
  func newForMissing() throws {
    let world = try World(handlers: [])
    try world.restart(handlers: [], schedules: hourly)
    #expect(try world.store.counts().isEmpty)
    try world.restart(schedules: hourly)
    #expect(world.isRunning(try only(world).id))
  }

  @Test("an identifier may have several, each with its payload, priority, tags and retry policy, which follow the configuration")
  func several() throws {
    let world = try World(handlers: [.sample(runs: 3)])
    let weekly = try #require(ScheduleName("org.example.task/weekly"))
    var schedule = ScheduledRequest(every: .seconds(7200))
    (schedule.payload, schedule.priority, schedule.tags) = (Array("{\"days\":7}".utf8), 3, ["slow"])
    schedule.retry = RetryPolicy(attempts: 9)
    try world.restart(
      handlers: [.sample(runs: 3)], schedules: [ScheduleName(.sample()): ScheduledRequest(every: .seconds(3600)), weekly: schedule])
    func holder() throws -> RequestRecord {
      try #require(try world.store.requests(RequestQuery()).first { $0.request.uniqueKey == "config:org.example.task/weekly" })
    }
    let record = try holder()
    #expect(world.isRunning(record.id) && record.request.scheduleName == weekly)
    #expect(try world.store.request(record.id)?.request.payload == schedule.payload)
    #expect(record.request.priority == 3 && record.request.tags == ["slow"] && record.request.retry?.attempts == 9)
    #expect(throws: RequestRefusal.self) {
      try world.submit(.sample(key: "config:org.example.task/weekly", onConflict: .replace))
    }
    try world.finish(record.id, .success)

    (schedule.payload, schedule.retry) = (Array("{\"days\":8}".utf8), nil)
    try world.restart(handlers: [.sample(runs: 3)], schedules: [weekly: schedule])
    #expect(try holder().id == record.id)
    #expect(try world.store.request(record.id)?.request.payload == schedule.payload)
    #expect(try holder().request.retry == world.core.policy.retry(of: .sample()))
    #expect(try world.store.requests(RequestQuery()).filter { !$0.state.isFinal }.map(\.id) == [record.id])
  }

  @Test(
    "its name is read from text and from the key of its request",
    arguments: ["a/b", "a.b-c/d_e.f", "A1/\(String(repeating: "x", count: 64))"])
  func names(_ text: String) throws {
    let name = try #require(ScheduleName(text))
    #expect(name.description == text && name.uniqueKey == "config:\(text)")
    #expect(ScheduleName(key: name.uniqueKey, of: name.identifier) == name)
    #expect(ScheduleName(key: name.uniqueKey, of: .sample()) == nil)
  }

  @Test(
    "a text that has not both, and a key that the configuration does not give, is refused",
    arguments: ["", "a", "/", "a/", "/b", "a/b/c", "a/ü", "a/b c", "a/\(String(repeating: "x", count: 65))", "config:a"])
  func misnamed(_ text: String) throws {
    #expect(ScheduleName(text) == nil)
    for key in [text, "config:\(text)x", "config:org.example.taskx", "config:org.example.task/"] {
      #expect(ScheduleName(key: key, of: .sample()) == nil, "\(key)")
    }
  }

  @Test("a request that an application submitted under such a key for another identifier is left alone")
  func foreign() throws {
    let other = TaskIdentifier.sample("org.example.other")
    let world = try World(handlers: [.sample(other)])
    let id = try world.submit(.sample(other, begin: .ms(60_000), key: "config:org.example.task", onConflict: .keep)).id
    try world.restart(handlers: [.sample(other)])
    #expect(try world.record(id).state == .pending)
  }
}
