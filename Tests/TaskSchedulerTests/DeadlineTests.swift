import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Deadline and flex") struct DeadlineTests {
  private func request(_ conditions: Conditions, deadline: WallTime? = nil, flex: Duration = .zero, begin: WallTime? = nil) -> TaskRequest {
    var request = TaskRequest(identifier: .sample(), earliestBegin: begin, conditions: conditions, deadline: deadline)
    request.gates.flex = flex
    return request
  }

  @Test("from its deadline on a request waits for network and power only")
  func relaxes() throws {
    let world = try World()
    try world.set([.network])
    let id = try world.submit(request([.network, .idle, .storageNotLow], deadline: .ms(60_000))).id
    #expect(!world.isRunning(id))
    #expect(world.core.nextTurn(now: world.now) == .ms(60_000))
    try world.advance(.seconds(60))
    #expect(world.isRunning(id))
    #expect(try world.record(id).isRelaxed)
  }

  @Test("a deadline does not make network or power hold")
  func needsNetwork() throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(request([.network, .idle], deadline: .ms(60_000))).id
    try world.advance(.seconds(3600))
    #expect(!world.isRunning(id))
    try world.set([.network])
    #expect(world.isRunning(id))
  }

  @Test("a deadline that passed while the host was down counts")
  func afterRestart() throws {
    let world = try World()
    try world.set([])
    let id = try world.submit(request([.idle], deadline: .ms(60_000))).id
    world.now = .ms(120_000)
    try world.restart()
    try world.set([])
    #expect(world.isRunning(id))
  }

  @Test("requests with flex begin together at the wake-up of the one that can wait least")
  func shared() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let early = try world.submit(request([], flex: .seconds(100), begin: .ms(10_000))).id
    let late = try world.submit(request([], flex: .seconds(20), begin: .ms(50_000))).id
    #expect(world.core.nextTurn(now: world.now) == .ms(70_000))
    #expect(!world.core.mayDispatch(now: .ms(69_999)))
    world.now = .ms(70_000)
    #expect(world.core.mayDispatch(now: world.now))
    try world.turn()
    #expect(world.begun == [early, late])
  }

  @Test("a wake-up for something else takes along what is due")
  func takenAlong() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let flexible = try world.submit(request([], flex: .seconds(100), begin: .ms(10_000))).id
    world.now = .ms(20_000)
    let other = try world.submit().id
    #expect(Set(world.begun) == [flexible, other])
  }

  @Test("a deadline ends the flex")
  func deadlineEndsFlex() throws {
    let world = try World()
    _ = try world.submit(request([], deadline: .ms(30_000), flex: .seconds(3600), begin: .ms(10_000)))
    #expect(world.core.nextTurn(now: world.now) == .ms(30_000))
    try world.advance(to: .ms(30_000))
    #expect(world.begun.count == 1)
  }

  @Test("delays keep their distance when the calendar is set, times of day do not", arguments: [-3600, 3600, 86_400])
  func clocks(_ seconds: Int) throws {
    let world = try World(handlers: [.sample(runs: 4)])
    try world.tellClocks(boot: "first", offset: 0)
    var delay = TaskRequest(identifier: .sample(), earliestBegin: .ms(200_000_000))
    delay.clock = .boot
    let delayed = try world.submit(delay).id
    let fixed = try world.submit(TaskRequest(identifier: .sample(), earliestBegin: .ms(200_000_000))).id
    try world.moveCalendar(.seconds(seconds))
    #expect(try world.record(delayed).due == .ms(200_000_000 + Int64(seconds) * 1000))
    #expect(try world.record(fixed).due == .ms(200_000_000))
  }

  @Test("a calendar that was set while the host was down moves delays of the same boot, not of another")
  func whileDown() throws {
    let world = try World()
    try world.tellClocks(boot: "first", offset: 1000)
    var delay = TaskRequest(identifier: .sample(), earliestBegin: .ms(200_000))
    delay.clock = .boot
    let id = try world.submit(delay).id
    try world.restart()
    try world.tellClocks(boot: "first", offset: 51_000)
    #expect(try world.record(id).due == .ms(250_000))
    try world.restart()
    try world.tellClocks(boot: "second", offset: 900_000)
    #expect(try world.record(id).due == .ms(250_000))
  }
}
