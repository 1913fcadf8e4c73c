import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("A store that fails", .timeLimit(.minutes(10))) struct StoreFailureTests {
  private let full = StoreError.full("no space left")
  private let hour = WallTime(unixMilliseconds: SystemClock().wallTime.unixMilliseconds + 3_600_000)

  @Test("submissions are refused as unavailable, and taken again when it works")
  func submissions() async throws {
    let host = try ScheduledHost()
    host.store.fail(with: full)
    for _ in 0..<3 {
      let refusal = await #expect(throws: RequestRefusal.self) { try await host.submit(.sample(begin: hour)) }
      #expect(refusal?.code == .unavailable)
      #expect(refusal?.message.contains("free some space") == true)
    }
    host.store.fail(with: nil)
    try await host.submit(.sample(begin: hour))
    #expect(try host.store.counts() == [.pending: 1])
    // Told once of the failure, once of the end of it.
    var told: [String] = []
    for await notice in host.notices {
      switch notice {
      case .storeFailed(let error): told.append(error.description)
      case .storeRecovered: told.append("recovered")
      case .event, .submitted, .began, .ended, .health, .paced, .pauseEnded, .objective, .incident, .told, .conditionsAwaited,
        .filesAwaited, .wakeAwaited, .surrendered:
        break
      }
      if told.last == "recovered" { break }
    }
    #expect(told == [full.description, "recovered"])
  }

  @Test("an outcome is kept and recorded by itself once the store works; the handler is not called again")
  func outcomes() async throws {
    let host = try ScheduledHost()
    let id = try await host.submit(.sample())[0].id
    let order = try await host.nextOrder()
    host.store.fail(with: full)
    host.launcher.end(order.run, .returned(.success, stop: nil))
    await host.afterTurn()
    #expect(try host.record(id).state == .running)
    host.store.fail(with: nil)
    let runs = await host.ended()
    #expect(runs.map(\.id) == [order.run])
    #expect(try host.record(id).state == .succeeded)
    // The slot is free again: the next one runs, and it is another.
    let next = try await host.submit(.sample())[0].id
    #expect(try await host.nextOrder().request == next)
  }

  @Test("nothing starts that is not recorded; what was due starts when the store works")
  func starts() async throws {
    let host = try ScheduledHost()
    host.scheduler.receive(.suspended(.sample(), "until the store fails"))
    let id = try await host.submit(.sample())[0].id
    host.store.fail(with: full)
    host.scheduler.receive(.resumed(.sample()))
    for await notice in host.notices { if case .storeFailed = notice { break } }
    #expect(await host.liveRuns().isEmpty)
    host.store.fail(with: nil)
    #expect(try await host.nextOrder().request == id)
    #expect(try host.record(id).state == .running)
  }

  @Test("a host that drains does not wait for a store that stays full, when every run has ended")
  func drain() async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    host.store.fail(with: full)
    async let drained: Void = host.drain(.milliseconds(1))
    #expect(try await host.nextCall() == .expire(order.run, .draining))
    host.launcher.end(order.run, .returned(.success, stop: .draining))
    await drained
  }

  @Test(
    "a host that drains does not wait for a store whose files are gone, once every run has ended",
    arguments: [StoreError.replaced("gone"), .cut("short")], [true, false])
  func drainWithoutStore(_ error: StoreError, _ hasEndedBefore: Bool) async throws {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    host.store.fail(with: error)
    if hasEndedBefore {
      host.launcher.end(order.run, .returned(.success, stop: nil))
      for await notice in host.notices { if case .storeFailed = notice { break } }
      await host.drain(.seconds(3600))
    } else {
      let drained = host.beginDrain(.seconds(3600))
      await host.afterTurn()
      #expect(await host.liveRuns().map(\.run) == [order.run])
      host.launcher.end(order.run, .returned(.success, stop: nil))
      for await _ in drained {}
    }
  }

  @Test("a host that drains records what it kept as soon as the store works again")
  func drainWithStore() async throws {
    let host = try ScheduledHost()
    let id = try await host.submit(.sample())[0].id
    let order = try await host.nextOrder()
    host.store.fail(with: .replaced("away"))
    host.launcher.end(order.run, .returned(.success, stop: nil))
    for await notice in host.notices { if case .storeFailed = notice { break } }
    host.store.fail(with: nil)
    await host.drain(.seconds(3600))
    #expect(try host.record(id).state == .succeeded)
  }

  @Test("a cancel that could not be recorded does not stop the run")
  func cancel() async throws {
    let host = try ScheduledHost()
    let id = try await host.submit(.sample())[0].id
    let order = try await host.nextOrder()
    host.store.fail(with: full)
    await #expect(throws: RequestRefusal.self) { try await host.cancel(id) }
    host.store.fail(with: nil)
    host.launcher.end(order.run, .returned(.success, stop: nil))
    #expect(await host.ended().map(\.outcome) == [.succeeded])
  }
}
