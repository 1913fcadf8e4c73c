import TestSupport
import CTaskHost
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
