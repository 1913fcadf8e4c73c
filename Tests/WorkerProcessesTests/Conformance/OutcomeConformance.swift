import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: outcomes") struct OutcomeConformance {
  @Test("a handler's result is the run's", arguments: Isolation.allCases) func results(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_result")
    for (text, result) in [("0", TaskResult.success), ("1", .noop), ("2", .snooze), ("3", .retry), ("4", .failure)] {
      let end = try await bench.run(contract, payload: Array(text.utf8))
      #expect(end.ending == .returned(result, stop: nil))
      #expect(end.report.message == nil)
      #expect(end.report.stopReason == nil)
      #expect(end.report.stopStage == nil)
      #expect(end.report.trouble == nil)
      #expect(end.report.incident == nil)
      #expect(end.report.cpuTime.map { $0 >= .zero } == true)
      #expect(end.report.handlerTime.map { $0 >= .zero } == true)
      #expect(end.report.began != nil)
    }
  }

  @Test("a result out of range is a failure that says so", arguments: Isolation.allCases) func outOfRange(_ isolation: Isolation)
    async throws
  {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_result")
    for value in [-1, 5, 77, Int32.max, Int32.min] {
      let end = try await bench.run(contract, payload: Array(String(value).utf8))
      #expect(end.ending == .returned(.outOfRange(value), stop: nil))
      #expect(end.ending.outcome == .failed)
      #expect(end.report.message == "the handler returned \(value), which is not a taskhost_result")
    }
  }

  @Test("an order without a plugin ends at once as a retry that names the identifier", arguments: Isolation.allCases)
  func noPlugin(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = HandlerContract(identifier: try TaskIdentifier("nobody.here"), kind: .refresh, budget: nil, grace: .zero)
    let end = try await bench.run(contract, payload: [])
    #expect(end.ending == .returned(.retry, stop: nil))
    #expect(end.report.message == "no handler for nobody.here is loaded")
  }

  @Test("many orders at once each end once", arguments: Isolation.allCases) func manyAtOnce(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_result", concurrent: 8)
    let orders = (0..<5000).map { _ in bench.order(contract, payload: Array("0".utf8)) }
    bench.launcher.start(orders)
    try await bench.recorder.until("5,000 ends") { $0.count >= 5000 }
    let ended = bench.recorder.all.compactMap { event in if case .ended(let run, _, _) = event { run } else { nil } }
    #expect(ended.count == 5000)
    #expect(Set(ended) == Set(orders.map(\.run)))
  }

  @Test(
    "runs given ahead of slots begin in the order given, and tell their events in the order they came about", arguments: Isolation.allCases)
  func order(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_order", concurrent: 1)
    let orders = (0..<300).map { bench.order(contract, payload: Array(String($0).utf8)) }
    // In batches of all sizes, the first of them while no worker may be ready.
    var (given, size) = (0, 1)
    while given < orders.count {
      bench.launcher.start(Array(orders[given..<min(given + size, orders.count)]))
      (given, size) = (given + size, size + 1)
    }
    guard let last = orders.last else { return }
    _ = try await bench.recorder.end(of: last.run)
    let told = bench.recorder.all.map { event in
      switch event {
      case .log(let run, let line): "\(run.run.sequence) \(line.message)"
      case .progress(let run, let progress): "\(run.run.sequence) \(progress.completed) of \(progress.total)"
      case .ended(let run, .returned(.success, stop: nil), _): "\(run.sequence) ended"
      default: "\(event)"
      }
    }
    let expected = orders.enumerated().flatMap { number, order in
      let run = order.run.sequence
      return ["\(run) begin \(number)", "\(run) 1 of 2", "\(run)   end \(number)", "\(run) ended"]
    }
    #expect(told == expected)
  }

  @Test("what runs count is summed up, saturates, and travels with unit and message", arguments: Isolation.allCases)
  func records(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_records")
    let end = try await bench.run(contract, payload: [])
    #expect(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    #expect(
      end.report.work
        == RunWork(itemsAttempted: 4, itemsCompleted: 3, itemsFailed: 1, bytesIn: .max, bytesOut: .max))
    let progress = try #require(end.report.progress)
    #expect((progress.completed, progress.total) == (3, 4))
    #expect(progress.unit == "123456789 123456789 123456789 12 … (cut at 32 bytes)")
    #expect(progress.message == String(repeating: "x", count: 512) + " … (cut at 512 bytes)")
    let told = bench.recorder.all.compactMap { event -> RunProgress? in if case .progress(_, let told) = event { told } else { nil } }
    #expect(isolation == .processes || told.first == RunProgress(completed: 3, total: 4, unit: "files", message: "a\\nb"))
    #expect(isolation == .processes || told.count == 5)
  }

  @Test("what runs report travels whole: output of 64 KiB, message, progress, delay, state and checkpoints of 1 MiB, requests")
  func services() async throws {
    for isolation in Isolation.allCases {
      let bench = try Bench(isolation)
      let contract = try await bench.load("runtime_services")
      var order = bench.order(contract, payload: (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      for attempt in 1...2 {
        order.attempt = attempt
        order.run = bench.order(contract).run
        bench.launcher.start([order])
        let end = try await bench.recorder.end(of: order.run)
        #expect(end.ending == .returned(.snooze, stop: nil), "\(isolation): \(end.report.message ?? "")")
        #expect(end.report.output == order.payload)
        #expect(end.report.message == "again — later")
        #expect(end.report.progress == RunProgress(completed: 3, total: 4))
        #expect(end.report.retryAfter == .milliseconds(12_345))
      }
      let submitted = bench.services.submitted
      #expect(submitted.count == 2)
      #expect(submitted.first?.payload.count == 65_536)
      #expect(submitted.first?.uniqueKey == "once")
      #expect(submitted.first?.onConflict == .keep)
      #expect(submitted.first?.earliestBegin == WallTime(unixMilliseconds: 1_800_000_000_000))
    }
  }
}
