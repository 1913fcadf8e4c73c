import Foundation
import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A forecast") struct ForecastTests {
  private static let now = WallTime.testStart
  private static let origin: UInt64 = 9
  private static let other = TaskIdentifier.sample("org.example.other")

  private static func contract(_ identifier: TaskIdentifier = .sample(), runs: Int = 1) -> HandlerContract {
    HandlerContract(identifier: identifier, kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: runs)
  }

  private static func basis(
    _ contracts: [HandlerContract] = [contract(), contract(other)], held: Conditions = .all,
    _ change: (inout SchedulingPolicy) -> Void = { _ in }
  ) -> ForecastBasis {
    var policy = SchedulingPolicy()
    policy.timeZones = ProofWorld.zone
    change(&policy)
    return ForecastBasis(policy: policy, contracts: contracts, conditions: ProofWorld.report(held, now: now), from: now)
  }

  private static func record(
    _ sequence: Int64, _ identifier: TaskIdentifier = .sample(), due: Duration = .zero, every: Duration? = nil,
    _ change: (inout RequestRecord) -> Void = { _ in }
  ) -> RequestRecord {
    var record = RequestRecord.sample(sequence, origin: origin, identifier: identifier, due: now + due, every: every)
    change(&record)
    return record
  }

  private static func seconds(_ forecast: Forecast) -> [Int64] { forecast.entries.map { ($0.at - now).wholeMilliseconds / 1000 } }

  @Test("tells each run of a day of a request that comes every minute, at its times")
  func everyMinute() {
    let forecast = Self.basis().forecast(
      of: ForecastQueue([Self.record(1, due: .seconds(60), every: .seconds(60))]), to: Self.now + .seconds(86_401))
    #expect(forecast.entries.count == 1440)
    #expect(Self.seconds(forecast) == (1...1440).map { $0 * 60 })
    #expect(forecast.entries.allSatisfy { $0.occurrence == $0.at && $0.identifier == .sample() && $0.duration == nil && !$0.assumed })
    #expect(forecast.held.isEmpty && !forecast.isTruncated)
    #expect(forecast.notes.contains { $0.contains("1 s is assumed") })
  }

  @Test("lets requests wait for each other's runs, which take their usual time")
  func busy() {
    let queue = ForecastQueue((1...3).map { Self.record($0) }, durations: [.sample(): .seconds(100)])
    let forecast = Self.basis().forecast(of: queue, to: Self.now + .seconds(250))
    #expect(Self.seconds(forecast) == [0, 100, 200])
    #expect(forecast.entries.map(\.duration) == [.seconds(100), .seconds(100), .seconds(100)])
  }

  @Test("goes on with the runs that there are")
  func running() {
    let running = Self.record(1) { record in
      record.place(in: .running)
      (record.run, record.started) = (RunID(sequence: 5, origin: Self.origin), Self.now + .seconds(-30))
    }
    let queue = ForecastQueue([running, Self.record(2)], durations: [.sample(): .seconds(40)])
    let forecast = Self.basis().forecast(of: queue, to: Self.now + .seconds(250))
    #expect(Self.seconds(forecast) == [10])
    #expect(forecast.entries.map(\.request.sequence) == [2])
  }

  @Test("a forecast covers the fleet's requests and the host's own: one that waits for another starts after it")
  func fleet() {
    let shared: UInt64 = 77
    func ofFleet(_ record: RequestRecord) -> RequestRecord {
      var record = record
      record.id = RequestID(sequence: record.id.sequence, origin: shared)
      return record
    }
    let own = Self.record(1, due: .seconds(5))
    let first = ofFleet(Self.record(1, Self.other))
    let second = ofFleet(
      Self.record(2, Self.other) { record in
        record.place(in: .blocked)
        record.blockedBy = first.id
      })
    var queue = ForecastQueue([own, first, second], durations: [.sample(): .seconds(10), Self.other: .seconds(20)])
    queue.edges = [second.id: [DependencyRecord(predecessor: first.id, onFailure: .fail)]]
    let forecast = Self.basis().forecast(of: queue, to: Self.now + .seconds(250))
    #expect(forecast.entries.map(\.request) == [first.id, own.id, second.id])
    #expect(Self.seconds(forecast) == [0, 5, 20])
    #expect(forecast.held.isEmpty)
    let gates = [Gate(kind: "time", sentence: "not before its time", since: Self.now, until: Self.now + .seconds(5))]
    // The first of the queue is the fleet's.
    for record in [own, second] {
      let held = record.id == own.id ? gates : [Gate(kind: "predecessor", sentence: "it waits", since: Self.now)]
      let explained = Self.basis().complete(RequestExplanation(id: record.id, gates: held), of: record) { _ in
        ForecastQueue([first, own, second], edges: queue.edges, durations: queue.durations)
      }
      #expect(explained.earliestStart == Self.now + .seconds(record.id == own.id ? 5 : 20))
    }
  }

  @Test("names what is held, and why: conditions, quarantine, a missing plugin, an event; what is only due later is not")
  func held() {
    let absent = TaskIdentifier.sample("org.example.absent")
    var basis = Self.basis(held: Conditions.all.subtracting(.network))
    var health = PluginHealth()
    health.quarantinedSince = Self.now
    basis.pluginHealth = [Self.other: health]
    let forecast = basis.forecast(
      of: ForecastQueue([
        Self.record(1) { $0.request.gates.conditions = .network }, Self.record(2, Self.other), Self.record(3, absent),
        Self.record(4) { ($0.request.event, $0.due) = (EventTrigger("mail"), .distantFuture) }, Self.record(5, due: .seconds(90_000)),
        Self.record(6) { $0.request.gates.conditions = .power },
      ]), to: Self.now + .seconds(86_400))
    #expect(forecast.entries.map(\.request.sequence) == [6])
    #expect(forecast.entries.first?.assumed == true)
    #expect(forecast.held.map(\.request.sequence) == [1, 2, 3, 4])
    for (held, words) in zip(
      forecast.held, ["network does not hold", "quarantined", "no plugin has registered", "waits for the event mail"])
    {
      #expect(held.reason.contains(words), "\(held)")
    }
  }

  @Test("counts a condition that nobody observes as held, and says so")
  func unwatched() {
    var report = ProofWorld.report([], now: Self.now)
    for index in report.states.indices { report.states[index].isWatched = false }
    var basis = Self.basis()
    basis.conditions = report
    let forecast = basis.forecast(of: ForecastQueue([Self.record(1) { $0.request.gates.conditions = .idle }]), to: Self.now + .seconds(60))
    #expect(forecast.entries.map(\.assumed) == [true])
    #expect(forecast.notes.contains { $0.contains("idle is not observed") })
  }

  @Test("counts what it asks the store: where very many lanes are open it ends early, and says so")
  func manyLanes() throws {
    let requests = (1...300).map { index in Self.record(Int64(index)) { $0.request.gates.concurrencyKey = "key \(index)" } }
    let run = try ForecastRun(Self.basis(), ForecastQueue(requests), to: Self.now + .seconds(3600), limit: 300, steps: 100_000)
    try run.go()
    let forecast = try run.result()
    #expect(forecast.isTruncated && (1..<20).contains(forecast.entries.count { !$0.assumed }))
    #expect(forecast.notes.contains { $0.hasPrefix("it ends early") })
  }

  @Test("lets a chain go on when what it waits for has succeeded")
  func chain() {
    func blocked(_ sequence: Int64, after: Int64) -> RequestRecord {
      Self.record(sequence, Self.other) { record in
        let predecessor = RequestID(sequence: after, origin: Self.origin)
        record.place(in: .blocked)
        record.blockedBy = predecessor
        record.request.after = [Dependency(.request(predecessor))]
      }
    }
    let queue = ForecastQueue(
      [Self.record(1), blocked(2, after: 1), blocked(3, after: 2), blocked(4, after: 99)], durations: [.sample(): .seconds(10)])
    let forecast = Self.basis().forecast(of: queue, to: Self.now + .seconds(60))
    #expect(Self.seconds(forecast) == [0, 10, 11])
    #expect(forecast.entries.map(\.assumed) == [false, true, true])
    #expect(forecast.held.map(\.request.sequence) == [4])
  }

  @Test("keeps the operator's limits: a rate, a key, a window, a hold that ends")
  func limits() throws {
    let window = try MaintenanceWindow(from: "02:00", to: "03:00", zone: ProofWorld.zone("UTC"))
    var basis = Self.basis([Self.contract(runs: 5), Self.contract(Self.other)]) { policy in
      policy.windows = ["night": window]
      var limits = PluginLimits()
      limits.rate = Rate(count: 1, period: .seconds(60))
      policy.limits = [Self.other: limits]
    }
    var health = PluginHealth()
    health.heldUntil = Self.now + .seconds(100)
    basis.pluginHealth = [Self.other: health]
    let forecast = basis.forecast(
      of: ForecastQueue([
        Self.record(1) { $0.request.gates.window = "night" }, Self.record(2) { $0.request.gates.concurrencyKey = "k" },
        Self.record(3) { $0.request.gates.concurrencyKey = "k" }, Self.record(4, Self.other), Self.record(5, Self.other),
      ]), to: Self.now + .seconds(86_400))
    let at = Dictionary(uniqueKeysWithValues: zip(forecast.entries.map(\.request.sequence), Self.seconds(forecast)))
    #expect(at == [1: 7200, 2: 0, 3: 1, 4: 100, 5: 160])
  }

  @Test("ends with as many runs as are asked for, and says so")
  func truncated() {
    let forecast = Self.basis().forecast(
      of: ForecastQueue([Self.record(1, every: .seconds(60))]), to: Self.now + .seconds(86_400), limit: 100)
    #expect(forecast.entries.count == 100)
    #expect(forecast.isTruncated)
    #expect(forecast.notes.contains { $0.hasPrefix("it lists 100 runs") })
    #expect(forecast.counts.map(\.runs) == [1440] && forecast.completeUntil == Self.now + .seconds(6000))
    let whole = Self.basis().forecast(of: ForecastQueue([Self.record(1)]), to: Self.now + .seconds(86_400), limit: 1)
    #expect(whole.entries.count == 1 && !whole.isTruncated)
  }

  @Test("has the first run of each request, however often others run; all take part, and only the wanted ones are shown")
  func rare() {
    let queue = ForecastQueue([
      Self.record(1, every: .seconds(60)), Self.record(2, Self.other, due: .seconds(80_000)),
    ])
    let basis = Self.basis([Self.contract(), Self.contract(Self.other)])
    let day = Self.now + .seconds(86_400)
    let forecast = basis.forecast(of: queue, to: day, limit: 10)
    #expect(forecast.entries.map(\.request.sequence) == Array(repeating: 1, count: 9) + [2])
    #expect(forecast.counts.map(\.runs) == [1440, 1] && forecast.completeUntil == Self.now + .seconds(540))
    let one = basis.forecast(of: queue, to: day, limit: 10) { $0 == Self.other }
    #expect(one.entries.map(\.request.sequence) == [2] && !one.isTruncated && one.completeUntil == day)
    let none = basis.forecast(of: queue, to: day, limit: 0)
    #expect(none.counts.isEmpty && none.notes.contains("2 more requests would run: a higher limit lists them"), "\(none.notes)")
  }

  @Test("that ends early lists what is due later at its time, as an assumption")
  func unreached() throws {
    let queue = ForecastQueue([
      Self.record(1, every: .seconds(1)), Self.record(2, Self.other, due: .seconds(80_000)),
    ])
    let basis = Self.basis([Self.contract(), Self.contract(Self.other)])
    let run = try ForecastRun(basis, queue, to: Self.now + .seconds(86_400), limit: 10_000, steps: 50_000)
    try run.go()
    let forecast = try run.result()
    let last = try #require(forecast.entries.last)
    #expect(last.request.sequence == 2 && last.assumed && last.at == Self.now + .seconds(80_000))
    #expect(forecast.isTruncated && forecast.completeUntil < Self.now + .seconds(1000) && forecast.held.isEmpty)
  }

  @Test("of a draining host has no runs")
  func draining() {
    var basis = Self.basis()
    basis.isDraining = true
    let forecast = basis.forecast(of: ForecastQueue([Self.record(1)]), to: Self.now + .seconds(60))
    #expect(forecast.entries.isEmpty)
    #expect(forecast.held.first?.reason.contains("draining") == true)
  }

  @Test("of no time or no requests is empty")
  func nothing() {
    #expect(Self.basis().forecast(of: ForecastQueue([]), to: Self.now + .seconds(60)).entries.isEmpty)
    let past = Self.basis().forecast(of: ForecastQueue([Self.record(1)]), to: Self.now + .seconds(-60))
    #expect(past.from == past.to && past.entries.isEmpty && past.held.isEmpty)
  }

  @Test("of a day of a busy host takes no longer than a second")
  func busyDay() {
    let identifiers = (0..<200).map { TaskIdentifier.sample("org.example.n\($0)") }
    var requests: [RequestRecord] = []
    for (index, identifier) in identifiers.enumerated() {
      requests.append(Self.record(Int64(requests.count + 1), identifier, due: .seconds(index), every: .seconds(900 + index * 60)))
    }
    while requests.count < 20_000 {
      let index = requests.count
      requests.append(Self.record(Int64(index + 1), identifiers[index % 200], due: .seconds(index * 5 % 100_000)))
    }
    let basis = Self.basis(identifiers.map { Self.contract($0, runs: 3) }) { $0.maxConcurrentRuns = 100 }
    // Unoptimized code takes half a minute for all of it.
    #if DEBUG
      let hours: Int64 = 2
    #else
      let hours: Int64 = 24
    #endif
    let clock = ContinuousClock()
    var forecast = Forecast(from: Self.now, to: Self.now)
    let time = clock.measure { forecast = basis.forecast(of: ForecastQueue(requests), to: Self.now + .seconds(hours * 3600)) }
    print("a forecast of \(forecast.entries.count) runs of \(requests.count) requests took \(time)")
    #expect(forecast.entries.count >= 10_000 * hours / 24)
    if ProcessInfo.processInfo.environment["TASKHOST_MEASURE"] == "1" { #expect(time < .seconds(1)) }
  }
}
