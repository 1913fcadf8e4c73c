import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

/// A random life of a scheduler, which is checked after every step against what it promises.
struct RandomWalk {
  /// What the test knows of a request by itself.
  private struct Expected {
    let limit: Int
    let isRepeating: Bool
    /// Attempts spent on the present occurrence, counted from the endings alone.
    var spent = 0
    var occurrence: WallTime?
    var isStopped = false
  }

  private static let identifiers = (0..<3).map { TaskIdentifier.sample("org.example.task\($0)") }
  private static let hostSlots = 5
  private static let handlers = identifiers.enumerated().map { HandlerContract.sample($1, runs: $0 + 1) }
  private static var policy: SchedulingPolicy {
    var policy = SchedulingPolicy(maxConcurrentRuns: hostSlots, maxPending: 40, minimumInterval: .seconds(60))
    policy.claimAhead = .milliseconds(5)
    return policy
  }

  private let world: World
  private let seed: UInt64
  private var random: SeededGenerator
  private var expected: [RequestID: Expected] = [:]
  /// What the test knows of the plugins' health by itself, without sentences.
  private var pluginHealth: [TaskIdentifier: PluginHealth] = [:]
  /// The runs that were handed out when their plugin misbehaved: they clear nothing.
  private var olderThanFailure: Set<RunID> = []
  private var liveBefore: Set<RunID> = []
  /// How often a plugin was seen held back, quarantined, and cleared by a good run.
  private var (held, quarantined, cleared) = (0, 0, 0)
  private var steps = 0

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    world = try World(Self.policy, handlers: Self.handlers)
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  /// One event, then the checks.
  mutating func step() throws {
    steps += 1
    liveBefore = Set(world.core.live.keys).union(world.core.claims.keys)
    world.store.fail(with: number(0..<25) == 0 ? .full("random") : nil)
    do {
      switch number(0..<102) {
      case 0..<35: try submit()
      case 35..<70: try end()
      case 70..<90:
        let passed = [1, 3, 50, 1000, 61_000, 600_000][number(0..<6)]
        world.now = world.now + .milliseconds(passed)
        try world.turn()
      case 90..<94: try cancel()
      case 94: try release()
      case 95: try cancelPending()
      case 96: try retry()
      case 97: try suspend()
      case 98: try simulate()
      case 99, 100: try adopt()
      default: try crash()
      }
    } catch is RequestRefusal {
    } catch let error as StoreError {
      try #require(error == .full("random"), "\(place)")
    }
    world.store.fail(with: nil)
    try world.turn()
    try check()
  }

  /// Lets everything end that can.
  mutating func settleAll() throws {
    for handler in world.core.handlers.values { handler.suspension = nil }
    for identifier in Self.identifiers { try world.release(identifier) }
    var turns = 0
    while turns < 10_000 {
      turns += 1
      try world.turn()
      if let id = world.orders.keys.filter(world.hasBegun).min() {
        if expected[id]?.isRepeating == true { try world.cancel(id) }
        try world.finish(id, .success)
      } else if let next = [world.core.nextTurn(now: world.now), world.held.values.min()].compactMap({ $0 }).min() {
        world.now = max(world.now, next)
      } else {
        break
      }
    }
    let counts = try world.store.counts()
    #expect([.pending, .blocked, .running, .claimed].allSatisfy { counts[$0, default: 0] == 0 }, "\(place): \(counts)")
    #expect(world.core.occupiedSlots == 0, "\(place)")
    #expect(held > 0 && quarantined > 0 && cleared > 0, "the walk met too little: \(held), \(quarantined), \(cleared)")
  }

  private var place: String { "seed \(seed), step \(steps)" }

  // MARK: Events

  /// Other limits, which hold back nothing: the state of every handler and the use of all limits are made anew.
  private mutating func adopt() throws {
    var policy = Self.policy
    policy.resources = ["unused": number(1..<1000)]
    try world.adopt(policy, handlers: Self.handlers, isRehearsal: number(0..<3) == 0)
  }

  private mutating func submit() throws {
    let limit = 1 + number(0..<4)
    let key = number(0..<3) == 0 ? "key\(number(0..<3))" : nil
    let request = TaskRequest.sample(
      Self.identifiers[number(0..<3)], begin: number(0..<2) == 0 ? nil : world.now + .milliseconds(number(0..<20_000)),
      priority: number(-10..<11), key: key, onConflict: key == nil ? .none : [.keep, .replace][number(0..<2)],
      retry: RetryPolicy(attempts: limit, initial: .seconds(number(1..<300))), every: number(0..<8) == 0 ? .seconds(number(60..<900)) : nil)
    let submission = try world.submit(request)
    if submission.disposition == .replaced {
      for id in world.orders.keys where try world.record(id).stopRequested != nil { expected[id]?.isStopped = true }
    }
    if submission.disposition != .kept {
      expected[submission.id] = Expected(
        limit: limit, isRepeating: request.repetition != nil, occurrence: request.repetition == nil ? nil : submission.nextStart)
    }
  }

  private mutating func end() throws {
    guard let id = world.orders.keys.filter(world.hasBegun).sorted().randomElement(using: &random), let order = world.orders[id],
      var request = expected[id]
    else { return }
    let endings: [RunEnding] = [
      .returned(.success, stop: nil), .returned(.noop, stop: nil), .returned(.retry, stop: nil), .returned(.retry, stop: nil),
      .returned(.snooze, stop: nil), .returned(.failure, stop: nil), .forced(.budget), .crashed, .returned(.retry, stop: .conditions),
    ]
    let ending = endings[number(0..<endings.count)]
    #expect(order.attempt == request.spent + 1, "\(place)")
    var report = RunReport()
    report.handlerTime = number(0..<8) == 0 ? .milliseconds(3) : .microseconds(300)
    do { try world.end(id, ending, report) } catch StoreError.full("random") {
      // The end is kept, and recorded when the store works again.
      world.store.fail(with: nil)
      try world.turn()
    }
    judge(order.contract.identifier, order.run, ending)
    let record = try world.record(id)
    if request.isStopped {
      #expect(record.state == .cancelled, "\(place)")
      return
    }
    switch ending.outcome {
    case .succeeded, .noop: request.spent = 0
    case .failed: if request.isRepeating { request.spent = 0 }
    case .retried, .expired, .crashed:
      request.spent += 1
      if request.spent >= request.limit, request.isRepeating { request.spent = 0 }
    case .snoozed, .stopped, .lost, .cancelled: break
    }
    let mayBeFinal: RequestState =
      switch ending.outcome {
      case .succeeded, .noop: .succeeded
      case .failed: .failed
      case .retried, .expired, .crashed: request.spent >= request.limit ? .failed : .pending
      default: .pending
      }
    let allowed: [RequestState] = request.isRepeating || mayBeFinal == .pending ? [.pending, .claimed, .running] : [mayBeFinal]
    #expect(allowed.contains(record.state), "\(place): \(record.state) after \(ending)")
    expected[id] = request
  }

  private mutating func cancel() throws {
    guard let id = expected.keys.sorted().randomElement(using: &random) else { return }
    if try world.cancel(id).stopRequested != nil { expected[id]?.isStopped = true }
  }

  private mutating func cancelPending() throws {
    let identifiers = number(0..<2) == 0 ? Self.identifiers : [Self.identifiers[number(0..<3)]]
    let before = try expected.keys.map { try world.record($0) }.filter { identifiers.contains($0.request.identifier) && !$0.state.isFinal }
    let begun = Set(before.map(\.id).filter(world.hasBegun))
    let count = try world.turn { [world] core, transaction in try core.cancelPending(of: identifiers, transaction, now: world.now) }
    var cancelled = 0
    for record in before {
      let after = try world.record(record.id)
      if record.state == .running || begun.contains(record.id) {
        #expect(after.state == .running && after.stopRequested == record.stopRequested, "\(place): a run in progress was touched")
      } else {
        cancelled += 1
        #expect(after.state == .cancelled, "\(place)")
      }
    }
    #expect(count == cancelled, "\(place)")
  }

  private mutating func retry() throws {
    var query = RequestQuery()
    query.states = [.failed]
    let failed = try world.store.requests(query).map(\.id).sorted()
    guard let id = failed.randomElement(using: &random) else { return }
    try world.retry(id)
    // What failed because of it comes back too.
    for id in failed where try world.record(id).state != .failed { expected[id]?.spent = 0 }
  }

  private mutating func suspend() throws {
    let handler = try #require(world.core.handlers[Self.identifiers[number(0..<3)]])
    handler.suspension = handler.suspension == nil ? "for once" : nil
  }

  private mutating func release() throws {
    let identifier = Self.identifiers[number(0..<3)]
    try world.release(identifier)
    pluginHealth[identifier] = nil
  }

  /// What an ending means to the plugin.
  private mutating func judge(_ identifier: TaskIdentifier, _ run: RunID, _ ending: RunEnding) {
    switch ending {
    case .crashed: recordFailure(identifier)
    case .forced(.budget): if !olderThanFailure.contains(run) { recordFailure(identifier) }
    case .returned(.success, _), .returned(.noop, _):
      guard let health = pluginHealth[identifier], !health.isQuarantined, !olderThanFailure.contains(run) else { return }
      cleared += health.failures > 0 ? 1 : 0
      pluginHealth[identifier]?.failures = 0
      pluginHealth[identifier]?.heldUntil = nil
    default: break
    }
  }

  private mutating func recordFailure(_ identifier: TaskIdentifier, tookHost: Bool = false) {
    olderThanFailure.formUnion(world.orders.values.filter { $0.contract.identifier == identifier }.map(\.run))
    var health = pluginHealth[identifier] ?? PluginHealth()
    health.failures += 1
    health.hostCrashes += tookHost ? 1 : 0
    if health.failures >= 5 || health.hostCrashes >= 3 {
      health.heldUntil = nil
      health.quarantinedSince = health.quarantinedSince ?? world.now
    } else {
      health.heldUntil = world.now + .seconds([60, 120, 240, 480][health.failures - 1])
    }
    pluginHealth[identifier] = health
  }

  private mutating func simulate() throws {
    let identifier = Self.identifiers[number(0..<3)]
    let record = try world.turn { [world] core, transaction in try core.simulateLaunch(identifier, transaction, now: world.now) }
    if expected[record.id] == nil { expected[record.id] = Expected(limit: Self.policy.retry.attempts, isRepeating: false) }
  }

  /// The host dies, of a run or by itself. A request that is lost for the fifth time in a row has failed, or is at its next occurrence.
  private mutating func crash() throws {
    world.store.fail(with: nil)
    let begun = world.orders.values.filter { world.hasBegun($0.request) }.sorted { $0.run < $1.run }
    let guilty = number(0..<2) == 0 ? begun.randomElement(using: &random) : nil
    liveBefore = []
    try world.restart(handlers: Self.handlers, crashed: guilty.map { [$0.run: "signal 11"] } ?? [:])
    if let guilty {
      recordFailure(guilty.contract.identifier, tookHost: true)
      expected[guilty.request]?.spent = try world.record(guilty.request).attemptsSpent
    }
    for (id, request) in expected where request.isRepeating {
      if let record = try world.store.request(id) { expected[id]?.spent = record.attemptsSpent }
    }
  }

  // MARK: Checks

  private mutating func check() throws {
    let core = world.core
    var query = RequestQuery()
    query.limit = 10_000
    query.states = [.pending, .claimed, .running]
    let records = try world.store.requests(query)
    let running = records.filter { $0.state == .running }

    // One live run of each request, and the books of memory and store agree.
    let claimed = Set(records.filter { $0.state == .claimed }.compactMap(\.run))
    #expect(Set(running.compactMap(\.run)) == Set(core.live.keys).subtracting(core.unrecorded), "\(place)")
    #expect(claimed == Set(core.claims.keys).union(core.unrecorded), "\(place)")
    #expect(Set(core.live.values.map(\.request)).count == core.live.count, "\(place)")
    #expect(Set(world.orders.values.map(\.run)) == Set(core.live.keys).union(core.claims.keys), "\(place)")

    // No limit is passed.
    for contract in Self.handlers {
      let count = core.live.values.filter { $0.identifier == contract.identifier }.count
      #expect(count <= contract.maxConcurrentRuns, "\(place)")
      #expect(core.handlers[contract.identifier]?.running == count, "\(place)")
    }
    let isWithin = core.occupiedSlots <= Self.hostSlots || core.live.values.contains(where: \.isSimulated)
    #expect(core.live.count <= core.occupiedSlots && isWithin, "\(place)")

    // The plugins' health is what their endings make it, in memory and in the store; none that is held back was given a run.
    let stored = try world.store.commit { try $0.pluginHealth() }
    #expect(stored == core.pluginHealth, "\(place)")
    for identifier in Self.identifiers {
      var health = core.pluginHealth[identifier] ?? PluginHealth()
      health.lastTrouble = nil
      #expect(health == pluginHealth[identifier] ?? PluginHealth(), "\(place)")
      guard health.isHeld(at: world.now) else { continue }
      if health.isQuarantined { quarantined += 1 } else { held += 1 }
      // An operator may launch one all the same.
      let begun = core.live.values.filter { $0.identifier == identifier && !$0.isSimulated }
      #expect(begun.allSatisfy { liveBefore.contains($0.run) }, "\(place)")
    }

    for record in records where record.run != nil {
      // Nothing begins before its time.
      if world.held[record.id] == nil { #expect(record.due <= world.now, "\(place)") }
      // A new occurrence has all attempts.
      if let occurrence = record.occurrence, occurrence != expected[record.id]?.occurrence {
        expected[record.id]?.occurrence = occurrence
        expected[record.id]?.spent = record.attemptsSpent
      }
    }

    // Nothing that is due waits while a slot is free.
    for record in records where record.state == .pending && record.due <= world.now {
      guard let handler = core.handlers[record.request.identifier] else { continue }
      #expect(
        handler.freeSlots == 0 || handler.isHeld(at: world.now) || core.occupiedSlots == Self.hostSlots,
        "\(place): \(record.id) is due and waits")
    }
    if let next = core.nextStart(now: world.now) { #expect(next > world.now, "\(place)") }
  }
}
