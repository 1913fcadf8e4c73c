import HostThreads
import LauncherConformance
import TaskModel
import TestSupport
import Testing
import WorkerLink
import WorkerProcesses

/// A plugin is in the same process as taskhost-worker and can send what that can: the host keeps every limit itself, and ends what breaks one.
@Suite("A worker that keeps to no limit") struct ConductTests {
  private let scripted: ScriptedBench
  private var bench: Bench { scripted.bench }

  init() throws { scripted = try ScriptedBench() }

  private static let line = LogLine(time: WallTime(unixMilliseconds: 1), level: .info, message: "again")

  /// Launches the script and waits for its refusal.
  private func refusal(_ script: Script) async throws -> LaunchFailure {
    let worker = try bench.worker(try await script.spec())
    do {
      _ = try await Bench.launch(worker)
    } catch let failure as LaunchFailure { return failure }
    throw TestFailure("it launched")
  }

  private func end(_ run: RunID, _ ending: RunEnding, _ change: (inout RunReport) -> Void = { _ in }) -> WorkerMessage {
    var report = RunReport()
    if case .returned(_, let stop) = ending { report.stopReason = stop }
    if case .forced(let reason) = ending { report.stopReason = reason }
    change(&report)
    return .ended([WireEnding(run: run, ending: ending, report: report)])
  }

  // MARK: What comes at the wrong time

  @Test("what it says before it is confined refuses its plugin, and the launch does not hang") func unconfined() async throws {
    var script = Script()
    script.receive()
    script.send(.launched(LaunchReport(registrations: [Script.registration])))
    #expect(
      try await refusal(script)
        == LaunchFailure(step: .crashed, observed: "its worker was killed: it spoke before it was confined"))
  }

  @Test("what is no message while it launches refuses its plugin, and the launch does not hang") func garbage() async throws {
    var script = Script.launching
    script.send([0x00])
    let refusal = try await refusal(script)
    #expect(refusal.step == .crashed)
    #expect(refusal.observed.hasPrefix("its worker was killed: it sent bytes that are not a message on its link"), "\(refusal.observed)")
  }

  @Test("handlers that it was not admitted to, or too many, refuse its plugin") func surplus() async throws {
    let other = try HandlerRegistration(identifier: TaskIdentifier("test.foreign"), kind: .refresh)
    for registrations in [[other], [Script.registration, Script.registration]] {
      var script = Script.launching
      script.send(.launched(LaunchReport(registrations: registrations)))
      #expect(try await refusal(script).observed == "its worker was killed: it registered what it was not admitted to")
    }
  }

  @Test("the sentences about its sandbox are said once, by the worker alone") func confinedTwice() async throws {
    let end = try await scripted.start { script, _ in script.send(.confined(missing: ["nothing is missing, believe me"])) }
    expectViolation(end, "it said for the second time how it is confined")
  }

  @Test("a line of the launch after it, or a farewell that nobody asked for, kills it") func late() async throws {
    expectViolation(
      try await scripted.start { script, _ in script.send(.launchLog(Self.line)) }, "it logged as a launching plugin after its launch")
    expectViolation(
      try await ScriptedBench().start { script, _ in script.send(.stopped(threadsLeft: 0)) }, "it said that it has stopped")
  }

  // MARK: What a run cannot have been told

  @Test("a run that stops for a reason that the host has not given kills it", arguments: StopReason.allCases)
  func forgedReason(_ reason: StopReason) async throws {
    expectViolation(
      try await scripted.start { script, run in script.send(end(run, .returned(.retry, stop: reason))) },
      "it stopped a run for a reason that it was not given (\(reason.rawValue))")
    expectViolation(
      try await ScriptedBench().start { script, run in script.send(.expired(run, reason)) },
      "it stopped a run for a reason that it was not given (\(reason.rawValue))")
    expectViolation(
      try await ScriptedBench().start { script, run in script.send(end(run, .forced(reason))) },
      "it stopped a run for a reason that it was not given (\(reason.rawValue))")
  }

  @Test("a run that hangs without having been asked to stop, or ends for two reasons, kills it") func contradictions() async throws {
    expectViolation(
      try await scripted.start { script, run in script.send(.stuck(run, thread: "t", stack: "")) },
      "it gave up a run that was not asked to stop")
    expectViolation(
      try await ScriptedBench().start { script, run in
        script.send(end(run, .returned(.retry, stop: nil)) { $0.stopReason = .draining })
      }, "it gave two reasons for one end of a run")
  }

  @Test("times that cannot be true are the nearest that can") func times() async throws {
    let begin = SystemClock().wallTime
    let ended = try await scripted.start { script, run in
      script.send(
        end(run, .returned(.success, stop: nil)) {
          $0.handlerTime = .nanoseconds(Int64.max)
          $0.began = WallTime.calendar.upperBound
        })
      script.exit()
    }
    #expect(ended.ending == .returned(.success, stop: nil))
    #expect(try #require(ended.report.handlerTime) < .seconds(60))
    #expect(try #require(ended.report.began) >= begin)
    #expect(try #require(ended.report.began) <= SystemClock().wallTime)
  }

  @Test("a run that took longer than its worker says has taken what the host saw of it", arguments: [Duration.nanoseconds(1), nil])
  func forgedHandlerTime(_ said: Duration?) async throws {
    let ended = try await scripted.start { script, run in
      script.wait(milliseconds: 400)
      script.send(end(run, .returned(.success, stop: nil)) { $0.handlerTime = said })
      script.exit()
    }
    #expect(ended.ending == .returned(.success, stop: nil))
    #expect(try #require(ended.report.handlerTime) >= .milliseconds(300))
  }

  // MARK: Too much

  @Test("more lines, or reports of progress, than a run may write kill it") func floods() async throws {
    expectViolation(
      try await scripted.start { script, run in script.sendForEver(.log(run, Self.line)) }, "it logged more in a run than it may")
    let lines = bench.recorder.all.count { if case .log = $0 { true } else { false } }
    #expect(lines < 8000, "\(lines) lines went into the host's log")
    expectViolation(
      try await ScriptedBench().start { script, run in script.sendForEver(.progress(run, RunProgress(completed: 1, total: 2))) },
      "it reported progress more often than it may")
    expectViolation(
      try await ScriptedBench().start { script, run in script.sendForEver(.work(run, RunWork(itemsCompleted: 1))) },
      "it reported its work more often than it may")
    expectViolation(
      try await ScriptedBench().start { script, _ in script.sendForEver(.log(nil, Self.line)) },
      "it logged more outside of its runs than it may")
  }

  @Test("more lines than a launch may write refuse its plugin") func launchFlood() async throws {
    var script = Script.launching
    script.sendForEver(.launchLog(Self.line))
    #expect(try await refusal(script).observed == "its worker was killed: it logged more while launching than it may")
  }

  @Test("words without end about a run that it does not have kill it") func strayWords() async throws {
    let foreign = bench.order(.scripted).run
    expectViolation(
      try await scripted.start { script, _ in script.sendForEver(.expired(foreign, .budget)) },
      "it says again and again what means nothing")
  }

  @Test("dropped lines are told at once, then every few seconds, and at the end") func dropped() async throws {
    let ended = try await scripted.start { script, run in
      for lines in [7, 8, 9] {
        for _ in 0..<LinkFormat.waitingLines { script.send(.log(run, Self.line)) }
        script.send(.dropped(lines: UInt64(lines)))
      }
      script.send(end(run, .returned(.noop, stop: nil)))
      script.exit()
    }
    #expect(ended.ending == .returned(.noop, stop: nil))
    _ = try await bench.recorder.first("what was dropped since") { event -> Bool? in
      if case .output(_, let line) = event, line.message == "17 log lines were dropped: too many at once" { true } else { nil }
    }
    let told = bench.recorder.all.compactMap { event -> String? in
      switch event {
      case .log(_, let line), .output(_, let line): line.message.hasSuffix("too many at once") ? line.message : nil
      default: nil
      }
    }
    #expect(told.map { $0.prefix(3) } == ["7 l", "17 "], "\(told)")
  }

  @Test("dropped lines that cannot have been written, or need not have been dropped, kill it", arguments: [UInt64(0), 1, 1_000_000_000])
  func forgedDrops(_ lines: UInt64) async throws {
    let what = lines == 0 ? "it reported that no lines were dropped" : "it reported more dropped lines than its runs may write"
    if lines != 1 {
      expectViolation(
        try await scripted.start { script, run in
          for _ in 0..<LinkFormat.waitingLines { script.send(.log(run, Self.line)) }
          script.send(.dropped(lines: lines))
        }, what)
    }
    guard lines > 0 else { return }
    expectViolation(
      try await ScriptedBench().start { script, _ in script.send(.dropped(lines: lines)) }, "it reported dropped lines that it had room for"
    )
  }

  @Test("what it lacks for one run is told once; for more runs than it was sent, it is killed") func forgedShortage() async throws {
    let shortage = WorkerMessage.shortage(HandlerContract.scripted.identifier, "no threads, believe me")
    expectViolation(
      try await scripted.start { script, _ in script.sendForEver(shortage) }, "it lacked something for more runs than it was sent")
    let told = bench.recorder.all.count { if case .shortage = $0 { true } else { false } }
    #expect(told == 1)
  }

  @Test("a run whose begin it told does not come back, and the begin is told once") func forgedReturn() async throws {
    let end = try await scripted.start(
      { script, run in
        script.send(.shortage(HandlerContract.scripted.identifier, "no threads, believe me"))
        script.send(.began(run))
        script.send(.began(run))
        script.send(.withdrawn(run))
      }, tellsBegin: true)
    expectViolation(end, "it gave back a run that it had begun")
    #expect(bench.recorder.all.count { if case .began = $0 { true } else { false } } == 1)
  }

  @Test("a run whose begin counts has begun when it returns, though its worker never said so") func silentBegin() async throws {
    let end = try await scripted.start(
      { script, run in
        script.send(.ended([WireEnding(run: run, ending: .returned(.noop, stop: nil), report: RunReport())]))
        script.exit()
      }, tellsBegin: true)
    #expect(end.ending == .returned(.noop, stop: nil))
    #expect(end.report.began != nil)
  }

  // MARK: Words

  /// The message with the letters `placeholder` of its text replaced.
  private func message(_ message: WorkerMessage, with bytes: [UInt8]) -> [UInt8] {
    var raw = message.encode().bytes
    guard let place = raw.indices.first(where: { raw[$0...].starts(with: Array("@@@@".utf8)) }) else { return raw }
    raw.replaceSubrange(place..<place + 4, with: bytes)
    return raw
  }

  @Test("words that are not escaped kill it", arguments: ["\u{1B}[2J", "\n\n\n\n", "\u{202E}a", "\u{7}\u{8}\u{0}\u{1}"])
  func unescaped(_ text: String) async throws {
    let bytes = Array(text.utf8)
    #expect(bytes.count == 4)
    let line = LogLine(time: WallTime(unixMilliseconds: 1), level: .info, message: "@@@@")
    expectViolation(
      try await scripted.start { script, run in script.send(message(.log(run, line), with: bytes)) },
      "it sent bytes that are not a message on its link: a message of the worker link is malformed (a line's text is neither escaped nor cut)"
    )
    expectViolation(
      try await ScriptedBench().start { script, run in
        script.send(message(end(run, .returned(.failure, stop: nil)) { $0.message = "@@@@" }, with: bytes))
      }, "it sent bytes that are not a message on its link: a message of the worker link is malformed (message is neither escaped nor cut)")
  }

  @Test("a line of more than 8 KiB kills it") func overlong() async throws {
    let text = String(repeating: "x", count: Limits.logMessageBytes)
    let end = try await scripted.start { script, run in
      var raw = WorkerMessage.log(run, LogLine(time: WallTime(unixMilliseconds: 1), level: .info, message: text)).encode().bytes
      // The text is the last field: its length stands before it.
      let place = raw.count - text.utf8.count - 4
      withUnsafeBytes(of: UInt32(text.utf8.count + 100).littleEndian) { raw.replaceSubrange(place..<place + 4, with: $0) }
      script.send(raw + [UInt8](repeating: 0x78, count: 100))
    }
    expectViolation(end, "it sent bytes that are not a message on its link")
  }

  // MARK: Without a run

  @Test("a violation without a run is told, so that it counts against the plugin") func idle() async throws {
    var script = Script.launched
    // The contracts.
    script.receive()
    script.send(.confined(missing: []))
    let worker = try await scripted.launch(script)
    let told = try await bench.recorder.first("a violation") { event -> String? in
      if case .misbehaved(HandlerContract.scripted.identifier, let what, _) = event { what } else { nil }
    }
    #expect(told == "its worker was killed: it said for the second time how it is confined")
    #expect(worker.processID == nil)
  }
}
