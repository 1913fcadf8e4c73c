import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A repeating request") struct RepeatTests {
  private let quarter = Duration.seconds(900)

  @Test("a thousand occurrences, some of them late, failed or retried, stay on the grid of the first")
  func drift() throws {
    let world = try World()
    let first = world.now
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 2), every: quarter)).id
    var random = SeededGenerator(seed: 11)
    for occurrence in 0..<1000 {
      let record = try world.record(id)
      #expect(record.state == .running)
      #expect(record.occurrence == first + quarter * occurrence)
      world.now = world.now + .milliseconds(Int64.random(in: 1...100_000, using: &random))
      switch UInt8.random(in: 0..<4, using: &random) {
      case 0: try world.finish(id, .failure)
      case 1:
        try world.finish(id, .retry)
        try world.advance(to: try world.record(id).due)
        try world.finish(id, .retry)
      case 2:
        try world.end(id, .forced(.budget))
        try world.release()
      default: try world.finish(id, .success)
      }
      #expect(try world.record(id).state == .pending)
      // Late by up to a minute, as on a busy machine; a pending retry has its turn meanwhile or is superseded.
      let next = first + quarter * (occurrence + 1)
      world.now = max(world.now, next + .milliseconds(Int64.random(in: 0...60_000, using: &random)))
      try world.turn()
    }
  }

  @Test("an occurrence supersedes a pending retry and has all attempts")
  func supersedes() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 3, initial: .seconds(3600)), every: quarter)).id
    try world.finish(id, .retry)
    #expect(try world.record(id).attemptsSpent == 1)
    #expect(try world.record(id).due == .ms(900_000))
    try world.advance(quarter)
    #expect(world.orders[id]?.attempt == 1)
    #expect(try world.record(id).attemptsSpent == 0)
    #expect(try world.record(id).occurrence == .ms(900_000))
    #expect(world.begun.count == 2)
  }

  @Test("a retry before the next occurrence belongs to its own")
  func retry() throws {
    let world = try World()
    let id = try world.submit(.sample(every: quarter)).id
    try world.finish(id, .retry, retryAfter: .seconds(60))
    try world.advance(.seconds(60))
    #expect(world.orders[id]?.attempt == 2)
    #expect(try world.record(id).occurrence == .ms(0))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(900_000))
    #expect(try world.record(id).attemptsSpent == 0)
  }

  @Test("of the occurrences missed in a downtime the latest runs, once")
  func missed() throws {
    let world = try World()
    let id = try world.submit(.sample(every: quarter)).id
    try world.finish(id, .success)
    world.now = .ms(900_000 * 7 + 1234)
    try world.restart()
    #expect(world.begun.count == 2)
    #expect(try world.record(id).occurrence == .ms(900_000 * 7))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(900_000 * 8))
    try world.turn()
    #expect(world.begun.count == 2)
  }

  @Test("launched early for a test, it keeps its grid")
  func simulated() throws {
    let world = try World()
    let id = try world.submit(.sample(every: quarter)).id
    try world.finish(id, .success)
    try world.advance(.seconds(100))
    let record = try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
    #expect(record.id == id)
    #expect(world.isRunning(id))
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(900_000))
    try world.advance(.seconds(799))
    #expect(!world.isRunning(id))
    try world.advance(.seconds(1))
    #expect(world.isRunning(id))
    #expect(try world.record(id).occurrence == .ms(900_000))
  }

  @Test("launched early and failed for now, its next occurrence has all attempts")
  func simulatedRetry() throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 2, initial: .seconds(3600)), every: quarter)).id
    try world.finish(id, .success)
    try world.advance(.seconds(100))
    try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
    try world.finish(id, .retry)
    try world.advance(to: .ms(900_000))
    #expect(world.orders[id]?.attempt == 1)
  }

  @Test(
    "no result ends it",
    arguments: [
      RunEnding.returned(.success, stop: nil), .returned(.noop, stop: nil), .returned(.failure, stop: nil), .returned(.retry, stop: nil),
      .returned(.outOfRange(9), stop: nil), .forced(.budget), .crashed, .lost, .returned(.snooze, stop: nil),
    ])
  func neverFinal(_ ending: RunEnding) throws {
    let world = try World()
    let id = try world.submit(.sample(retry: RetryPolicy(attempts: 1), every: quarter)).id
    for _ in 1...12 {
      try world.end(id, ending)
      try world.release()
      // A lost run begins again in the same turn.
      #expect([.pending, .running].contains(try world.record(id).state))
      try world.advance(quarter)
      #expect(world.isRunning(id))
    }
  }

  @Test("a run that takes longer than the interval is followed by the next time of the grid, not by a burst")
  func long() throws {
    let world = try World()
    let id = try world.submit(.sample(every: quarter)).id
    try world.advance(.seconds(2000))
    #expect(world.begun.count == 1)
    try world.finish(id, .success)
    #expect(try world.record(id).due == .ms(2_700_000))
  }

  @Test("an interval below the operator's minimum is raised, with a note")
  func minimum() throws {
    let world = try World()
    let submission = try world.submit(.sample(every: .seconds(1)))
    #expect(submission.notes == ["the interval was raised to minimum_interval, 900 s"])
    #expect(try world.record(submission.id).request.repetition == RepeatRule(every: quarter))
  }

  @Test("an interval that is not positive is refused")
  func notPositive() throws {
    let world = try World()
    #expect(throws: RequestRefusal.self) { try world.submit(.sample(every: .zero)) }
  }
}
