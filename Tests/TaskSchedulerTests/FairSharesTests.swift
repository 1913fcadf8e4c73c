import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("Fair shares") struct FairSharesTests {
  private static func run(_ number: Int64) -> RunID { RunID(sequence: number, origin: 1) }

  /// Serves one run after the other, and returns how often each tenant was served.
  private func serve(_ shares: inout FairShares, _ waiting: [String: Int], took: [String: Duration], until end: Duration) -> [String: Int] {
    var (served, time, number) = ([String: Int](), Duration.zero, Int64(1))
    while time < end {
      guard let tenant = shares.order(waiting, most: 1).first else { break }
      shares.begin(Self.run(number), of: tenant)
      shares.end(Self.run(number), took: took[tenant])
      served[tenant, default: 0] += 1
      time += took[tenant] ?? .zero
      number += 1
    }
    return served
  }

  @Test("turns go around the tenants that wait, however many runs each has waiting")
  func turns() {
    var shares = FairShares()
    #expect(shares.order(["a": 100, "b": 2, "c": 1, "d": 0], most: 7) == ["a", "b", "c", "a", "b", "a", "a"])
    shares.begin(Self.run(1), of: "a")
    #expect(shares.order(["a": 100, "b": 2], most: 2) == ["b", "a"])
    #expect(shares.order([:], most: 5).isEmpty)
  }

  @Test("tenants get equal time, not equal numbers of runs")
  func time() {
    var shares = FairShares()
    let served = serve(
      &shares, ["short": 1000, "long": 1000], took: ["short": .milliseconds(100), "long": .seconds(1)], until: .seconds(100))
    #expect((490...510).contains(served["short"] ?? 0), "\(served)")
    #expect((48...52).contains(served["long"] ?? 0), "\(served)")
  }

  @Test("a tenant that was away has no credit, and its debt shrinks as others run")
  func away() {
    var shares = FairShares()
    _ = serve(&shares, ["a": 1], took: ["a": .seconds(1)], until: .seconds(60))
    // Alone, it has paid for nothing: the newcomer and it begin as equals, but for the last run.
    let served = serve(&shares, ["a": 100, "b": 100], took: ["a": .seconds(1), "b": .seconds(1)], until: .seconds(40))
    #expect((19...21).contains(served["a"] ?? 0) && (19...21).contains(served["b"] ?? 0), "\(served)")
  }

  @Test("what was taken back costs nothing, and a run that ends twice, or that nobody began, changes nothing")
  func takenBack() {
    var shares = FairShares()
    shares.begin(Self.run(1), of: "a")
    #expect(shares.owed["a"] != nil)
    shares.end(Self.run(1), took: nil)
    #expect(shares.owed.isEmpty)
    shares.end(Self.run(1), took: .seconds(5))
    shares.end(Self.run(2), took: .seconds(5))
    #expect(shares.owed.isEmpty)
  }

  @Test("no length of time makes it trap, and charges are bounded")
  func extremes() {
    var shares = FairShares()
    for (number, took) in [Duration.seconds(Int64.max), .zero, .seconds(-5), .seconds(Int64.max)].enumerated() {
      shares.begin(Self.run(Int64(number)), of: "a")
      shares.end(Self.run(Int64(number)), took: took)
      _ = shares.order(["a": .max, "b": .max], most: 3)
    }
    for number in 0..<Int64(FairShares.mostCharges + 10) { shares.begin(Self.run(number), of: "t\(number % 50)") }
    #expect(shares.owed.count <= 51)
    #expect(shares.order(["a": 1, "t1": 1], most: 2).count == 2)
  }

  @Test(
    "a tenant is a member of the payload, as text",
    arguments: [
      ("{\"tenant\":\"x\"}", "x"), ("{\"tenant\":7}", "7"), ("{\"tenant\":true}", "true"), ("{\"tenant\":null}", nil),
      ("{\"tenant\":[1]}", nil), ("{\"other\":1}", nil), ("[]", nil), ("no JSON", nil), ("", nil),
      ("{\"tenant\":\"a\",\"tenant\":\"b\"}", nil),
    ] as [(String, String?)])
  func tenant(_ payload: String, _ tenant: String?) throws {
    #expect(try #require(FairBy("payload.tenant")).tenant(in: Array(payload.utf8)) == tenant)
  }

  @Test("deep members and long names work; a path without a member is refused")
  func paths() throws {
    let deep = try #require(FairBy("payload.a.b"))
    #expect(deep.description == "payload.a.b" && deep.tenant(in: Array("{\"a\":{\"b\":\"x\"}}".utf8)) == "x")
    let long = deep.tenant(in: Array("{\"a\":{\"b\":\"\(String(repeating: "x", count: 1000))\"}}".utf8))
    #expect(long?.hasPrefix("hash:") == true)
    for text in ["", "payload", "payload.", "payload..a", ".a", "tenant", "payload.a."] { #expect(FairBy(text) == nil, "\(text)") }
  }
}

@Suite("An identifier that is shared fairly") struct FairDispatchTests {
  private static func world(_ fairBy: String = "payload.tenant", runs: Int = 1) throws -> World {
    var limits = PluginLimits()
    limits.fairBy = FairBy(fairBy)
    limits.runsPerKey = 100
    var policy = SchedulingPolicy()
    policy.limits[.sample()] = limits
    return try World(policy, handlers: [.sample(runs: runs)])
  }

  private static func request(_ tenant: String, priority: Int = 0) -> TaskRequest {
    var request = TaskRequest(identifier: .sample(), payload: Array("{\"tenant\":\"\(tenant)\"}".utf8))
    request.priority = priority
    return request
  }

  /// Ends runs one after the other until none is left, and returns the tenants of the runs in their order.
  ///
  /// - Parameter first: The first run that has not ended.
  private func tenants(_ world: World, _ names: [RequestID: String], from first: Int = 0) throws -> [String] {
    var index = first
    while index < world.begun.count {
      try world.finish(world.begun[index], .success)
      index += 1
    }
    return world.begun[first...].compactMap { names[$0] }
  }

  @Test("a tenant with few requests does not wait for one that has submitted many before, whatever their priority", arguments: [0, 10])
  func few(_ priority: Int) throws {
    let world = try Self.world()
    var names: [RequestID: String] = [:]
    for _ in 0..<20 { names[try world.submit(Self.request("many", priority: priority)).id] = "many" }
    for _ in 0..<3 { names[try world.submit(Self.request("few")).id] = "few" }
    let order = try tenants(world, names)
    #expect(order.count == 23)
    #expect(order.prefix(7).filter { $0 == "few" }.count == 3, "\(order)")
  }

  @Test("what is handed out ahead in a turn whose commit fails is charged to nobody, and what is taken back is charged again")
  func undone() throws {
    let world = try Self.world()
    world.core.policy.claimAhead = .seconds(5)
    var request = Self.request("a")
    request.earliestBegin = world.now + .seconds(2)
    let before = try world.submit(Self.request("b")).id
    world.store.fail(with: .full("no space"))
    for _ in 0..<3 { #expect(throws: (any Error).self) { try world.submit(request) } }
    world.store.fail(with: nil)
    try world.finish(before, .success)
    #expect(world.core.handlers[.sample()]?.shares?.owed["a"] == nil)
    let held = try world.submit(request).id
    #expect(try world.record(held).state == .claimed)
    let owed = try #require(world.core.handlers[.sample()]?.shares?.owed["a"])
    world.store.fail(with: .full("no space"))
    #expect(throws: (any Error).self) { try world.cancel(held) }
    world.store.fail(with: nil)
    #expect(world.core.handlers[.sample()]?.shares?.owed["a"] == owed)
  }

  @Test("within a tenant, priority and time decide")
  func within() throws {
    let world = try Self.world()
    let first = try world.submit(Self.request("a")).id
    let low = try world.submit(Self.request("b", priority: -1)).id
    let high = try world.submit(Self.request("b", priority: 5)).id
    try world.finish(first, .success)
    try world.finish(high, .success)
    #expect(world.begun == [first, high, low])
  }

  @Test("several runs at once are shared too, and hundreds of tenants cost a turn no more questions than it has room")
  func room() throws {
    let world = try Self.world(runs: 4)
    for tenant in 0..<300 { for _ in 0..<2 { try world.submit(Self.request("t\(tenant)")) } }
    #expect(world.orders.count == 4)
    let before = world.core.laneQuestions
    try world.finish(try #require(world.begun.first), .success)
    #expect(world.orders.count == 4)
    #expect(world.core.laneQuestions - before < 20, "\(world.core.laneQuestions - before)")
  }

  @Test("the submitted concurrency key may tell tenants apart")
  func key() throws {
    let world = try Self.world("concurrency_key")
    func submit(_ key: String?) throws -> RequestID {
      var request = TaskRequest(identifier: .sample())
      request.gates.concurrencyKey = key
      return try world.submit(request).id
    }
    var names: [RequestID: String] = [:]
    for _ in 0..<6 { names[try submit("a")] = "a" }
    for _ in 0..<2 { names[try submit(nil)] = "none" }
    #expect(Array(try tenants(world, names).prefix(4)) == ["a", "none", "a", "none"])
  }

  @Test("tenants survive a restart")
  func restart() throws {
    let world = try Self.world()
    var names: [RequestID: String] = [:]
    for _ in 0..<5 { names[try world.submit(Self.request("many")).id] = "many" }
    names[try world.submit(Self.request("few")).id] = "few"
    let first = world.begun.count
    try world.restart()
    let order = try tenants(world, names, from: first)
    #expect(order.prefix(3).contains("few"), "\(order)")
  }
}
