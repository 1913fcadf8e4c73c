import PluginRuntime
import TaskModel
import Testing

@Suite("Outcome") struct OutcomeTests {
  @Test(
    "a handler's result is the run's",
    arguments: [("0", TaskResult.success), ("1", .noop), ("2", .snooze), ("3", .retry), ("4", .failure)])
  func results(_ text: String, _ result: TaskResult) async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_result")
    let end = try await bench.recorder.end(of: bench.start(contract, payload: Array(text.utf8)))
    #expect(end.ending == .returned(result, stop: nil))
    #expect(end.report.message == nil)
    #expect(end.report.cpuTime.map { $0 >= .zero } == true)
  }

  @Test("a result out of range is a failure that says so", arguments: [-1, 5, 77, Int32.max, Int32.min])
  func outOfRange(_ value: Int32) async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_result")
    let end = try await bench.recorder.end(of: bench.start(contract, payload: Array(String(value).utf8)))
    #expect(end.ending == .returned(.outOfRange(value), stop: nil))
    #expect(end.ending.outcome == .failed)
    #expect(end.report.message == "the handler returned \(value), which is no taskhost_result")
  }

  @Test("an order without a plugin ends at once as a retry that names the identifier") func noPlugin() async throws {
    let bench = try Bench()
    let contract = HandlerContract(identifier: try TaskIdentifier("nobody.here"), kind: .refresh, budget: nil, grace: .zero)
    let end = try await bench.recorder.end(of: bench.start(contract, payload: []))
    #expect(end.ending == .returned(.retry, stop: nil))
    #expect(end.report.message == "no handler for nobody.here is loaded")
  }

  @Test("many orders at once each end once") func manyAtOnce() async throws {
    let bench = try Bench()
    let contract = try await bench.load("runtime_result", concurrent: 8)
    let orders = (0..<500).map { _ in bench.order(contract, payload: Array("0".utf8)) }
    bench.launcher.start(orders)
    for order in orders { _ = try await bench.recorder.end(of: order.run) }
    let ended = bench.recorder.all.compactMap { event in if case .ended(let run, _, _) = event { run } else { nil } }
    #expect(ended.count == 500)
    #expect(Set(ended) == Set(orders.map(\.run)))
  }
}
