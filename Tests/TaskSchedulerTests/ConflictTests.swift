import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A unique key that is held") struct ConflictTests {
  @Test("keep: the holder stays and the submission is dropped")
  func keep() throws {
    let world = try World()
    let holder = try world.submit(.sample(begin: .ms(5000), key: "k", onConflict: .keep)).id
    let second = try world.submit(.sample(key: "k", onConflict: .keep))
    #expect(second.id == holder && second.disposition == .kept)
    #expect(second.nextStart == .ms(5000) && second.effective?.nextStart == .ms(5000))
    #expect(second.notes == ["the holder of the key is pending: it stays, and this submission is dropped"])
    try world.turn()
    #expect(world.begun.isEmpty)
  }

  @Test("keep while the holder runs says that the trigger is dropped")
  func keepRunning() throws {
    let world = try World()
    let holder = try world.submit(.sample(key: "k", onConflict: .keep)).id
    let second = try world.submit(.sample(key: "k", onConflict: .keep))
    #expect(second.disposition == .kept)
    #expect(second.notes == ["the holder of the key is running: this submission is dropped"])
    try world.finish(holder, .success)
    #expect(try world.submit(.sample(key: "k", onConflict: .keep)).disposition == .created)
  }

  @Test("replace: a pending holder is cancelled and the new one takes its place")
  func replacePending() throws {
    let world = try World()
    let holder = try world.submit(.sample(begin: .ms(5000), key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace))
    #expect(second.disposition == .replaced)
    #expect(try world.record(holder).state == .cancelled)
    #expect(world.isRunning(second.id))
  }

  @Test(
    "replace: a new one starts only after the run of the old one has ended, though slots are free",
    arguments: [RunEnding.returned(.success, stop: nil), .returned(.retry, stop: .replaced), .forced(.replaced), .crashed])
  func replaceRunning(_ ending: RunEnding) throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let holder = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let run = try #require(world.orders[holder]).run
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(world.expirations == [run: .replaced])
    try world.advance(.seconds(60))
    #expect(!world.isRunning(second))
    try world.end(holder, ending)
    #expect(try world.record(holder).state == .cancelled)
    // A crash holds the plugin back.
    if ending == .crashed { try world.advance(.seconds(60)) }
    #expect(world.isRunning(second))
    try world.finish(second, .success)
    #expect(try world.record(second).state == .succeeded)
  }

  @Test("replace of one that waits itself inherits its wait")
  func replaceBlocked() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let third = try world.submit(.sample(key: "k", onConflict: .replace)).id
    #expect(try world.record(second).state == .cancelled)
    #expect(try world.record(third).blockedBy == first)
    #expect(!world.isRunning(third))
    try world.finish(first, .success)
    #expect(world.begun == [first, third])
  }

  @Test("replace: the new one starts after a crash of the host too")
  func replaceLost() throws {
    let world = try World()
    let first = try world.submit(.sample(key: "k", onConflict: .replace)).id
    let second = try world.submit(.sample(key: "k", onConflict: .replace)).id
    try world.restart()
    #expect(try world.record(first).state == .cancelled)
    #expect(world.isRunning(second))
  }

  @Test("none: every submission is its own request, and it holds no key")
  func none() throws {
    let world = try World(handlers: [.sample(runs: 4)])
    let first = try world.submit(.sample(key: "k", onConflict: .none))
    let second = try world.submit(.sample(key: "k", onConflict: .none))
    #expect(first.disposition == .created && second.disposition == .created)
    #expect(world.isRunning(first.id) && world.isRunning(second.id))
    #expect(try world.record(first.id).request.uniqueKey == nil)
  }

  @Test("a key belongs to its identifier")
  func otherIdentifier() throws {
    let world = try World(handlers: [.sample(), .sample(.sample("org.example.other"))])
    let first = try world.submit(.sample(key: "k", onConflict: .keep))
    let second = try world.submit(.sample(.sample("org.example.other"), key: "k", onConflict: .keep))
    #expect(second.disposition == .created)
    #expect(first.id != second.id)
  }

  @Test("a policy without a key, and an empty key are refused")
  func refused() throws {
    let world = try World()
    let wrong: [(TaskRequest, RequestRefusal.Code)] = [
      (.sample(onConflict: .keep), .invalid), (.sample(key: "", onConflict: .keep), .invalid),
    ]
    for (request, code) in wrong {
      let refusal = #expect(throws: RequestRefusal.self) { try world.submit(request) }
      #expect(refusal?.code == code)
    }
    #expect(try world.store.counts().isEmpty)
  }
}
