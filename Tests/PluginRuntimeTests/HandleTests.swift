import TestSupport
import CTaskHost
import HostThreads
import LauncherConformance
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Handles") struct HandleTests {
  @Test("a slot that is used again gets another handle, and the handle before finds nothing") func slotReuse() throws {
    let bench = try Bench(.threads)
    let contract = HandlerContract(identifier: try TaskIdentifier("slots"), kind: .refresh, budget: nil, grace: .zero)
    let table = RunTable()
    let runs = (0..<2).map { _ in LiveRun(order: bench.order(contract), stallLimit: nil, services: bench.services) { _ in } }
    #expect(table.enter(runs[0]))
    table.leave(runs[0], stillRunning: true)
    #expect(table.enter(runs[1]))
    #expect(runs[0].handle >> 48 == runs[1].handle >> 48)
    #expect(throws: CallFailure.stale) { try table.find(runs[0].handle) }
    #expect(try table.find(runs[1].handle) === runs[1])
    #expect(try table.findWithForced(runs[0].handle) === runs[0])
    table.forget(runs[0])
    #expect(throws: CallFailure.stale) { try table.findWithForced(runs[0].handle) }
  }

  @Test("of a run that expired and has returned, requests are taken until its grace is over; nothing else, and of no other run")
  func graced() throws {
    let bench = try Bench(.threads)
    let table = RunTable()
    func made(budget: Duration, grace: Duration) throws -> LiveRun {
      let contract = HandlerContract(identifier: try TaskIdentifier("slots"), kind: .refresh, budget: budget, grace: grace)
      let run = LiveRun(order: bench.order(contract), stallLimit: nil, services: bench.services) { _ in }
      #expect(table.enter(run))
      _ = run.handle(.begin(thread: 0))
      _ = run.handle(.look(on: 0))
      return run
    }
    func end(_ run: LiveRun) {
      _ = run.handle(.returned(.retry, RunUsage(began: SystemClock().wallTime, handlerTime: .zero, cpuTime: .zero)))
    }
    let expired = try made(budget: .zero, grace: .seconds(600))
    #expect(try table.forRequests(expired.handle) === expired, "it is live")
    end(expired)
    #expect(try table.forRequests(expired.handle) === expired, "it is on its way out of the table")
    table.leave(expired, stillRunning: false)
    #expect(try table.forRequests(expired.handle) === expired)
    #expect(throws: CallFailure.stale) { try table.live(expired.handle) }
    #expect(throws: CallFailure.stale) { try table.findWithForced(expired.handle) }
    table.forgetGraced()
    #expect(throws: CallFailure.stale) { try table.forRequests(expired.handle) }

    for run in [try made(budget: .seconds(600), grace: .seconds(600)), try made(budget: .zero, grace: .zero)] {
      end(run)
      #expect(throws: CallFailure.stale) { try table.forRequests(run.handle) }
      table.leave(run, stillRunning: false)
      #expect(throws: CallFailure.stale) { try table.forRequests(run.handle) }
    }
    let forced = try made(budget: .zero, grace: .seconds(600))
    _ = forced.handle(.close(.budget, trouble: nil))
    table.leave(forced, stillRunning: true)
    #expect(throws: CallFailure.stale) { try table.forRequests(forced.handle) }
    table.forget(forced)
  }

  @Test("the table holds 65,536 runs and refuses the next until one leaves") func full() throws {
    let bench = try Bench(.threads)
    let contract = HandlerContract(identifier: try TaskIdentifier("slots"), kind: .refresh, budget: nil, grace: .zero)
    let table = RunTable()
    let make = { LiveRun(order: bench.order(contract), stallLimit: nil, services: bench.services) { _ in } }
    let first = make()
    #expect(table.enter(first))
    for _ in 1..<65_536 { guard table.enter(make()) else { throw TestFailure("refused too early") } }
    let late = make()
    #expect(!table.enter(late))
    table.leave(first, stillRunning: false)
    #expect(table.enter(late))
  }
}
