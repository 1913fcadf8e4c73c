import MemoryStore
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Pauses of identifiers, filters and everything") struct OperatorPauseTests {
  private static let a = TaskIdentifier.sample("org.example.a")
  private static let b = TaskIdentifier.sample("org.example.b")

  private func world(_ policy: SchedulingPolicy = SchedulingPolicy(), runs: Int = 8) throws -> World {
    try World(policy, handlers: [.sample(Self.a, runs: runs), .sample(Self.b, runs: runs)])
  }

  private func restart(_ world: World) throws {
    try world.restart(handlers: [.sample(Self.a, runs: 8), .sample(Self.b, runs: 8)])
  }

  @discardableResult private func pause(_ world: World, _ filter: String, until: WallTime? = nil, why: String? = nil) throws -> Pause {
    let order = PauseOrder(filter: filter, by: "anna (user 7)", user: 7, reason: why, until: until)
    return try world.turn { core, transaction in try core.pause(order, transaction, now: world.now) }
  }

  private func set(ofFleet pauses: [Pause], _ world: World) throws {
    try world.turn { core, transaction in try core.set(ofFleet: pauses, of: [Self.a], transaction, now: world.now) }
  }

  @Test("a pause of the fleet holds its identifiers alone, and ends when the fleet's database says so, not by this host's clock or orders")
  func fleet() throws {
    let world = try world()
    let order = PauseOrder(by: "anna", until: .ms(5000), isOfFleet: true)
    try set(ofFleet: [Pause(id: PauseID(1_000_001), order: order, since: .ms(1))], world)
    let own = try pause(world, "tag:none")
    let held = try world.submit(.sample(Self.a)).id
    let other = try world.submit(.sample(Self.b)).id
    #expect(world.begun == [other])
    #expect(world.core.pauses.pauses.map(\.id) == [PauseID(1_000_001), own.id])
    #expect(try resume(world, .all) == [own])
    #expect(throws: RequestRefusal.self) { try resume(world, .id(PauseID(1_000_001))) }
    try world.advance(to: .ms(4000))
    #expect(!world.isRunning(held))
    try set(ofFleet: [], world)
    #expect(world.isRunning(held))
    // The store of a host has its own alone.
    #expect(try world.store.commit { try $0.pauses() } == [])
  }

  @discardableResult private func resume(_ world: World, _ selection: PauseSelection) throws -> [Pause] {
    try world.turn { core, transaction in try core.resume(selection, transaction, now: world.now) }
  }

  private static func tagged(_ tag: String, _ identifier: TaskIdentifier = a) -> TaskRequest {
    var request = TaskRequest.sample(identifier)
    request.tags = [tag]
    return request
  }

  @Test(
    "what a pause selects does not begin, whether it was there before or comes later, also after a restart; what it does not select begins",
    arguments: [
      "identifier:org.example.a", "identifier:org.none.*,org.example.a", "tag:t", "tag:t identifier:org.example.*", "payload.x:1",
    ])
  func holds(_ filter: String) throws {
    let world = try world()
    var request = Self.tagged("t")
    request.payload = Array(#"{"x": 1}"#.utf8)
    request.earliestBegin = .ms(1000)
    let before = try world.submit(request).id
    try pause(world, filter)
    let later = try world.submit(request).id
    try world.advance(to: .ms(5000))
    let other = try world.submit(.sample(Self.b)).id
    #expect(world.begun == [other])
    try restart(world)
    try world.advance(to: .ms(9000))
    #expect(!world.isRunning(before) && !world.isRunning(later))
    #expect(world.core.nextTurn(now: world.now) == nil, "nothing wakes the host for them")
    #expect(!world.core.mayDispatch(now: world.now))
    try resume(world, .all)
    #expect(world.isRunning(before) && world.isRunning(later))
    #expect(try world.store.commit { try $0.pauses() } == [])
  }

  @Test("everything is paused without a filter; runs that have begun go on, and end")
  func everything() throws {
    let world = try world()
    let running = try world.submit(.sample(Self.a)).id
    try pause(world, "")
    let held = try world.submit(.sample(Self.b)).id
    #expect(world.expirations.isEmpty && world.isRunning(running) && !world.isRunning(held))
    try world.finish(running, .success)
    #expect(try world.record(running).state == .succeeded)
    try resume(world, .filter(""))
    #expect(world.isRunning(held))
  }

  @Test("one that two pauses hold begins once both have ended", arguments: [["tag:t", "tag:t,u"], ["", "tag:t"], ["", "identifier:*"]])
  func several(_ filters: [String]) throws {
    let world = try world()
    let pauses = try filters.map { try pause(world, $0) }
    let id = try world.submit(Self.tagged("t")).id
    let gates = world.core.explanation(of: try world.record(id), now: world.now).gates
    #expect(gates.map(\.kind) == ["pause", "pause"] && gates.map(\.remedy) == pauses.map { "taskhost resume \($0.id)" })
    try resume(world, .id(pauses[0].id))
    #expect(!world.isRunning(id))
    #expect(world.core.explanation(of: try world.record(id), now: world.now).gates.map(\.remedy) == ["taskhost resume \(pauses[1].id)"])
    try resume(world, .id(pauses[1].id))
    #expect(world.isRunning(id))
  }

  @Test("a pause ends by itself at its time, and wakes the scheduler for that, also if the clock was set", arguments: ["", "tag:t"])
  func until(_ filter: String) throws {
    let world = try world()
    try pause(world, filter, until: .ms(60_000))
    let id = try world.submit(Self.tagged("t")).id
    try world.advance(to: .ms(30_000))
    #expect(!world.isRunning(id))
    #expect(world.core.nextTurn(now: world.now) == .ms(60_000))
    // The calendar is set back, so the end is farther away, and then forward beyond it.
    world.now = .ms(-100_000)
    try world.turn()
    #expect(!world.isRunning(id) && world.core.nextTurn(now: world.now) == .ms(60_000))
    world.now = .ms(60_000)
    #expect(world.core.hasDuty(now: world.now))
    try world.turn()
    #expect(world.isRunning(id) && world.lastTurn.endedPauses.count == 1)
    #expect(try world.store.commit { try $0.pauses() } == [] && world.core.pauses.isEmpty)
  }

  @Test("a pause whose time was over before the host came back holds nothing")
  func overAtLaunch() throws {
    let world = try world()
    try pause(world, "", until: .ms(60_000))
    let id = try world.submit(.sample(Self.a)).id
    world.now = .ms(90_000)
    try restart(world)
    #expect(world.isRunning(id))
  }

  @Test("why names who paused what, why, until when, and the command that ends it; the start is known if the end is")
  func why() throws {
    let world = try world()
    let made = try pause(world, "tag:t", until: .ms(3_600_000), why: "the database moves")
    let id = try world.submit(Self.tagged("t")).id
    let explanation = world.core.explanation(of: try world.record(id), now: world.now)
    let gate = try #require(explanation.gates.first)
    #expect(gate.sentence == "anna (user 7) has paused tag:t, for another 60 min: the database moves")
    #expect(gate.since == .testStart && gate.until == .ms(3_600_000) && explanation.earliestStart == .ms(3_600_000))
    #expect(explanation.wouldRunIf == ["taskhost resume \(made.id)"])
    try resume(world, .all)
    try pause(world, "")
    let other = try world.submit(.sample(Self.b)).id
    let open = world.core.explanation(of: try world.record(other), now: world.now)
    #expect(open.gates.map(\.sentence) == ["anna (user 7) has paused everything, until somebody ends it"] && open.earliestStart == nil)
  }

  @Test("a request that is due is looked at once, however often there are turns; one that is changed is looked at again")
  func once() throws {
    let world = try world()
    try pause(world, "tag:t")
    let id = try world.submit(Self.tagged("t")).id
    #expect(try world.record(id).setAside == PauseID(1))
    let questions = world.core.laneQuestions
    for _ in 0..<10 { try world.turn([.raised("nothing")]) }
    #expect(world.core.laneQuestions == questions, "held requests cost no turn anything")
    var request = Self.tagged("u")
    request.priority = 1
    _ = try world.turn { [request] core, transaction in try core.update(id, with: request, transaction, now: world.now) }
    #expect(world.isRunning(id), "its tag is another one now")
  }

  @Test("very many that a pause holds are set aside over several turns, and others begin meanwhile")
  func many() throws {
    let world = try world()
    try pause(world, "tag:t")
    _ = try world.submit((0..<1200).map { _ in Self.tagged("t") })
    let other = try world.submit(.sample(Self.a)).id
    var turns = 0
    while world.core.mayDispatch(now: world.now) {
      try world.turn()
      turns += 1
      #expect(world.lastTurn.setAside <= SchedulerCore.setAsideAtOnce)
    }
    #expect(world.isRunning(other) && turns < 10)
    try resume(world, .all)
    #expect(world.core.handlers[Self.a]?.running == 8, "they begin again, as many as there is room for")
  }

  @Test("one that repeats is held at its occurrence, and goes on with its schedule after the pause")
  func repeating() throws {
    let world = try world()
    let id = try world.submit(.sample(Self.a, every: .seconds(3600))).id
    try world.finish(id, .success)
    try pause(world, "identifier:org.example.a", until: .ms(10_000_000))
    try world.advance(to: .ms(3_600_000))
    #expect(!world.isRunning(id))
    try world.advance(to: .ms(10_000_000))
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(10_800_000), "the occurrences that passed are not caught up")
  }

  @Test("its deadline does not lift a pause, and a simulated launch does not either")
  func notLifted() throws {
    let world = try world()
    try pause(world, "tag:t")
    var request = Self.tagged("t")
    request.deadline = .ms(1000)
    let id = try world.submit(request).id
    try world.advance(to: .ms(5000))
    #expect(try world.record(id).isRelaxed && !world.isRunning(id))
    let refusal = #expect(throws: RequestRefusal.self) {
      try world.turn { core, transaction in try core.simulateLaunch(Self.a, transaction, now: world.now) }
    }
    #expect(refusal?.message == "anna (user 7) has paused tag:t: taskhost resume 1")
  }

  @Test("what is handed out ahead is taken back", arguments: ["", "tag:t", "identifier:org.example.a"])
  func ahead(_ filter: String) throws {
    var policy = SchedulingPolicy()
    policy.claimAhead = .milliseconds(5)
    let world = try world(policy)
    var request = Self.tagged("t")
    request.earliestBegin = .ms(3)
    let id = try world.submit(request).id
    #expect(try world.record(id).state == .claimed)
    try pause(world, filter)
    try world.advance(to: .ms(1000))
    #expect(try world.record(id).state == .pending && world.begun.isEmpty)
  }

  @Test("a failed commit leaves what was paused before, and nothing else")
  func undone() throws {
    let world = try world()
    let first = try pause(world, "tag:t")
    world.store.fail(with: .full("no space"))
    #expect(throws: (any Error).self) { try pause(world, "") }
    #expect(throws: (any Error).self) { try resume(world, .all) }
    world.store.fail(with: nil)
    #expect(world.core.pauses.pauses == [first])
    let (held, other) = (try world.submit(Self.tagged("t")).id, try world.submit(.sample(Self.b)).id)
    #expect(!world.isRunning(held) && world.isRunning(other))
  }

  @Test("the conditions of what is paused are not watched for, and the machine is not woken for it")
  func unwatched() throws {
    let world = try world()
    try world.set([])
    var request = TaskRequest(identifier: Self.a, conditions: [.power])
    _ = try world.submit(request).id
    #expect(world.core.awaitedConditions(now: world.now) == .power)
    request = .sample(Self.b, begin: .ms(60_000))
    request.gates.wakes = true
    _ = try world.submit(request)
    #expect(world.core.nextWake(now: world.now) == .ms(60_000))
    try pause(world, "")
    #expect(world.core.awaitedConditions(now: world.now) == [] && world.core.nextWake(now: world.now) == nil)
  }

  @Test("a forecast begins what is paused when the pause ends, and not at all if it does not end", arguments: ["", "tag:t"])
  func forecast(_ filter: String) throws {
    let world = try world()
    try pause(world, filter, until: .ms(1_800_000))
    let id = try world.submit(Self.tagged("t")).id
    func forecast() throws -> Forecast {
      ForecastBasis(world.core, now: world.now).forecast(of: ForecastQueue([try world.record(id)]), to: .ms(7_200_000))
    }
    #expect(try forecast().entries.map(\.at) == [.ms(1_800_000)])
    try pause(world, filter)
    #expect(try forecast().entries.isEmpty)
    #expect(try forecast().held.first?.reason.contains("anna (user 7) has paused") == true)
  }

  @Test(
    "what is wrong is refused, and said",
    arguments: [
      (PauseOrder(filter: "tags:x", by: "a"), "at character 1: \"tags\" is not a word of filters; did you mean \"tag\"?"),
      (PauseOrder(filter: "state:pending", by: "a"), "state has no place in it"),
      (PauseOrder(by: "a", until: .ms(-1)), "until: a time to come"),
      (PauseOrder(by: "a", until: .ms(400_000_000_000)), "within ten years"),
      (PauseOrder(by: "a", reason: String(repeating: "x", count: 1025)), "why: 1 to 1024 bytes"),
      (PauseOrder(by: "a", reason: ""), "why: 1 to 1024 bytes"),
    ])
  func refused(_ order: PauseOrder, _ sentence: String) throws {
    let world = try world()
    let refusal = #expect(throws: RequestRefusal.self) {
      try world.turn { core, transaction in try core.pause(order, transaction, now: world.now) }
    }
    #expect(refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "")")
    #expect(world.core.pauses.isEmpty)
  }

  @Test("there are at most 1,000; numbers are never used again; what is not there cannot be ended, and the refusal says what is there")
  func bounds() throws {
    let world = try world()
    try pause(world, "tag:t")
    try resume(world, .id(PauseID(1)))
    #expect(try pause(world, "tag:t").id == PauseID(2))
    let missing = #expect(throws: RequestRefusal.self) { try resume(world, .id(PauseID(1))) }
    #expect(missing?.message == "there is no pause 1; there are: 2 (tag:t)" && missing?.code == .notFound)
    let everything = #expect(throws: RequestRefusal.self) { try resume(world, .filter("")) }
    #expect(everything?.message == "there is no pause of everything; there are: 2 (tag:t)")
    #expect(try resume(world, .filter("  tag:t ")).map(\.id) == [PauseID(2)])
    _ = try world.turn { core, transaction in
      for _ in 0..<Limits.pauses { _ = try core.pause(PauseOrder(by: "a"), transaction, now: world.now) }
    }
    #expect(throws: RequestRefusal.self) { try pause(world, "") }
    let unknown = #expect(throws: RequestRefusal.self) { try resume(world, .id(PauseID(1))) }
    #expect(unknown?.message.hasSuffix("12 (everything), and 990 more") == true, "\(unknown?.message ?? "")")
    #expect(try resume(world, .all).count == Limits.pauses)
  }
}
