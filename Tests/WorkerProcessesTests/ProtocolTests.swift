import Foundation
import HostThreads
import LauncherConformance
import TaskModel
import Testing
import WorkerLink
import WorkerProcesses

/// What comes over the link is a plugin's word: whatever it is, it costs the worker that said it.
@Suite("A worker that breaks the protocol") struct ProtocolTests {
  private let scripted: ScriptedBench
  private var bench: Bench { scripted.bench }

  init() throws { scripted = try ScriptedBench() }

  private static let version = UInt8(LinkFormat.version)

  @Test(
    "what is no message kills it, and its runs have crashed",
    arguments: [
      [0x00], [0x54], [0x54, version], [0x54, version + 1, 0x01], [0x54, version, 0xFE], Array(repeating: 0xAA, count: 32_768),
      // A part of a message without the bytes that it has.
      [0x54, version, 0xFF, 0, 0, 1, 0],
      // More than a datagram may have.
      Array(repeating: 0x54, count: 40_000),
    ] as [[UInt8]])
  func garbage(_ bytes: [UInt8]) async throws {
    expectViolation(
      try await scripted.start { script, _ in script.send(bytes) }, "it sent bytes that are not a message on its link")
  }

  @Test("so does the half of a message, or one with a byte too many") func half() async throws {
    for change in [-1, 1] {
      let end = try await scripted.start { script, run in
        let whole = WorkerMessage.progress(run, RunProgress(completed: 1, total: 2)).encode().bytes
        script.send(change < 0 ? Array(whole.dropLast()) : whole + [0])
      }
      expectViolation(end, "it sent bytes that are not a message on its link")
    }
  }

  @Test("the end of a run that it does not have kills it") func foreignRun() async throws {
    let foreign = bench.order(.scripted).run
    let end = try await scripted.start { script, _ in
      script.send(.ended([WireEnding(run: foreign, ending: .returned(.success, stop: nil), report: RunReport())]))
    }
    expectViolation(end, "it ended a run that it does not have")
  }

  @Test("a run that it ends twice ends once, and it is killed") func twice() async throws {
    let end = try await scripted.start { script, run in
      let ending = WorkerMessage.ended([WireEnding(run: run, ending: .returned(.success, stop: nil), report: RunReport())])
      script.send(ending)
      script.send(ending)
    }
    #expect(end.ending == .returned(.success, stop: nil))
    #expect(bench.recorder.all.count { if case .ended = $0 { true } else { false } } == 1)
  }

  @Test("words about a run that it does not have are dropped, calls for it are answered that it is over") func wordsOfForeignRuns()
    async throws
  {
    let foreign = bench.order(.scripted).run
    let end = try await scripted.start { script, run in
      let line = LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: "forged")
      script.send(.log(foreign, line))
      script.send(.progress(foreign, RunProgress(completed: 1, total: 1)))
      script.send(.expired(foreign, .budget))
      script.send(.stuck(foreign, thread: "forged", stack: "forged"))
      script.send(.call(number: 1, .setCheckpoint(foreign, [1])))
      script.send(.call(number: 2, .submit(foreign, TaskRequest(identifier: HandlerContract.scripted.identifier))))
      script.send(.call(number: 3, .pending(foreign, after: nil)))
      script.send(.call(number: 4, .cancelPending(foreign, of: nil)))
      // The answers.
      script.receive(4)
      script.send(.ended([WireEnding(run: run, ending: .returned(.noop, stop: nil), report: RunReport())]))
      script.exit()
    }
    #expect(end.ending == .returned(.noop, stop: nil))
    #expect(bench.recorder.all.count == 1)
    #expect(bench.services.submitted.isEmpty)
    #expect(bench.services.cancelled.isEmpty)
  }

  @Test("a second launch kills it") func launchTwice() async throws {
    expectViolation(
      try await scripted.start { script, _ in script.send(.launched(LaunchReport(registrations: [Script.registration]))) },
      "it launched twice")
    let other = try await ScriptedBench().start { script, _ in script.send(.refused(LaunchFailure(step: .load, observed: "late"))) }
    expectViolation(other, "it launched twice")
  }

  @Test("calls of the launch are refused after it") func lateCalls() async throws {
    let identifier = HandlerContract.scripted.identifier
    let end = try await scripted.start { script, run in
      script.send(.call(number: 1, .admit(identifier)))
      script.send(.call(number: 2, .settings(identifier)))
      script.send(.call(number: 3, .launchPending([identifier], after: nil)))
      script.receive(3)
      script.send(.ended([WireEnding(run: run, ending: .returned(.noop, stop: nil), report: RunReport())]))
      script.exit()
    }
    #expect(end.ending == .returned(.noop, stop: nil))
  }

  @Test("one that floods the host with messages holds up no other, and is killed") func flood() async throws {
    let other = try await bench.load("runtime_result")
    let order = bench.order(.scripted)
    var script = Script.launched
    script.receive(2)
    script.sendForEver(.progress(order.run, RunProgress(completed: 1, total: 2)))
    let worker = try await scripted.launch(script)
    let watch = try ProcessWatch(try #require(worker.processID))
    bench.launcher.start([order])
    for _ in 0..<20 { #expect(try await bench.run(other, payload: [0x30]).ending == .returned(.success, stop: nil)) }
    expectViolation(try await bench.recorder.end(of: order.run), "it reported progress more often than it may")
    try await watch.ended()
  }

  /// The runs that had begun have crashed for it, the others are given back.
  private func expectKilled(_ orders: [RunOrder], _ what: String) async throws {
    let slots = HandlerContract.scripted.maxConcurrentRuns
    for order in orders.prefix(slots) { expectViolation(try await bench.recorder.end(of: order.run), what) }
    let left = Set(orders.dropFirst(slots).map(\.run))
    try await bench.recorder.until("that the others are given back") { events in
      left.isSubset(of: events.compactMap { event -> RunID? in if case .withdrawn(let run) = event { run } else { nil } })
    }
  }

  @Test("one that does not read what it is sent is killed after 10 s; the host never waits for it") func deaf() async throws {
    let worker = try await scripted.launch(Script.launched)
    let watch = try ProcessWatch(try #require(worker.processID))
    // More than a socket takes.
    let orders = (0..<400).map { _ in bench.order(.scripted, payload: [UInt8](repeating: 1, count: 8192)) }
    let begin = SystemClock.now
    bench.launcher.start(orders)
    #expect(SystemClock.now - begin < .seconds(5))
    try await watch.ended(within: 30)
    #expect(SystemClock.now - begin >= .seconds(10))
    try await expectKilled(orders, "it does not read what it is sent")
  }

  @Test("one for which far too much waits is killed at once") func overfull() async throws {
    let worker = try await scripted.launch(Script.launched)
    let watch = try ProcessWatch(try #require(worker.processID))
    let orders = (0..<600).map { _ in bench.order(.scripted, payload: [UInt8](repeating: 1, count: 65_536)) }
    bench.launcher.start(orders)
    // Not because of the time that it did not read.
    try await expectKilled(orders, "what it is sent does not reach it")
    try await watch.ended()
  }

  @Test("one that ends without a word before it has launched is a refusal") func silentEnd() async throws {
    var script = Script()
    script.receive()
    script.exit()
    let worker = try bench.worker(try await script.spec())
    await #expect(throws: LaunchFailure(step: .crashed, observed: "its worker ended with exit status 0 while it was loaded or launched")) {
      try await Bench.launch(worker)
    }
  }

  @Test("one that never says a word is a refusal when the launch budget is over") func silence() async throws {
    let worker = try bench.worker(try await Script().spec(budget: .milliseconds(200)))
    await #expect(throws: LaunchFailure(step: .timeout, observed: "it did not answer within the launch budget of 200 ms")) {
      try await Bench.launch(worker)
    }
  }

  @Test("it has the descriptors 0 to 4 and no other, whatever its host has open") func descriptors() async throws {
    // One that is not close-on-exec.
    let pair = Pipe()
    _ = fcntl(pair.fileHandleForReading.fileDescriptor, F_SETFD, 0)
    let end = try await scripted.start { script, run in
      script.tellDescriptors()
      script.send(.ended([WireEnding(run: run, ending: .returned(.noop, stop: nil), report: RunReport())]))
      script.exit()
    }
    #expect(end.ending == .returned(.noop, stop: nil))
    let lines = bench.recorder.all.compactMap { event in
      switch event {
      case .log(_, let line), .output(_, let line): line.message
      default: nil
      }
    }
    #expect(lines == ["open: 0 1 2 3 4"])
  }
}
