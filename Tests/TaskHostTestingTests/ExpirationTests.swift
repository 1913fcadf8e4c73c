import TestSupport
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Expiration and force", .timeLimit(.minutes(10)))
struct ExpirationTests {
  @Test(
    "a run expires at a moment, for each reason",
    arguments: [
      (StopReason.budget, RunOutcome.retried), (.conditions, .stopped), (.draining, .stopped), (.cancelled, .cancelled),
      (.replaced, .cancelled), (.stalled, .retried),
    ])
  func reasons(reason: StopReason, outcome: RunOutcome) async throws {
    let host = try TestHost.with { task in
      do { while true { try await task.sleep(for: .seconds(1)) } } catch { task.setMessage("\(task.stopReason)") }
      return .retry()
    }
    let run = try host.launch()
    run.expire(reason, at: .seconds(2.5))
    let report = try await run.ended()
    #expect(report.stopReason == reason)
    #expect(report.expiredAfter == .milliseconds(2500))
    #expect(report.message == "\(reason)")
    #expect(report.outcome == outcome)
    #expect(report.ending == .returned(.retry()))
  }

  @Test("a run expires at once, before its handler has begun or after")
  func atOnce() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(500))
      return .success
    }
    let run = try host.launch()
    run.expire()
    run.expire(.cancelled)
    let report = try await run.ended()
    #expect(report.stopReason == .budget)
    #expect(report.duration == .zero)
    #expect(report.result == .retry())
  }

  @Test("an interruption bound to what the handler does meets it exactly there")
  func moments() async throws {
    let host = try TestHost.with { task in
      for step in 1...10 {
        try task.checkpoint.setValue(step)
        if task.isExpired { return .snooze(after: .seconds(Int64(step))) }
      }
      return .success
    }
    let run = try await host.run(interruptions: [.expire(.conditions, at: .checkpoint(3))])
    #expect(run.result == .snooze(after: .seconds(3)))
    #expect(run.outcome == .stopped)
    #expect(run.checkpoints.count == 3)
    #expect(run.missedInterruptions.isEmpty)
  }

  @Test("an interruption that never came is told of")
  func missed() async throws {
    let host = try TestHost.with { task in
      try task.checkpoint.setValue(1)
      return .success
    }
    let run = try await host.run(interruptions: [.kill(at: .checkpoint(2)), .expire(.cancelled, at: .minutes(5))])
    #expect(run.result == .success)
    #expect(run.missedInterruptions.map(\.description) == ["kill at checkpoint 2", "expire (cancelled) at 300.0 seconds"])
    #expect(run.description.contains("never came: kill at checkpoint 2, expire (cancelled) at 300.0 seconds"))
  }

  @Test("an expiration handler that does not return holds back neither the run's outcome nor time")
  func stuckExpirationHandler() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Testing/stepper", ["HANGS"]))
    let run = try await host.run(payload: Array("1 40000".utf8))
    #expect(run.result == .snooze())
    #expect(run.expiredAfter == .seconds(30))
    try await host.advance(by: .seconds(60))
  }

  @Test("work that is done in grace counts, and a run that uses it up is stopped by force")
  func grace() async throws {
    let host = try TestHost.with(Refresh.self) { task in
      do { try await task.sleep(for: .seconds(60)) } catch { try task.state.setValue("saved", for: "work") }
      return .success
    }
    let run = try await host.run()
    #expect(run.result == .success)
    #expect(run.isExpired)
    #expect(try host.state(as: String.self, "work") == "saved")
  }

  @Test("a handler that ignores its expiration is stopped by force when its grace is over, and its thread left behind")
  func ignored() async throws {
    let late = Seen<TaskHostError.Code>()
    let ended = Event()
    let host = try TestHost.with(Refresh.self) { task in
      while true {
        try? await task.sleep(for: .seconds(1))
        do { try task.state.setValue(1, for: "late") } catch let error as TaskHostError where error.code == .stale {
          late.note(error.code)
          ended.set()
          return .success
        }
        try task.state.remove("late")
        // Nothing but sleeps, as a loop that has forgotten to look.
        while !task.isExpired { try? await task.sleep(for: .seconds(1)) }
        while task.remaining <= .zero, task.grace > .zero { try? await task.sleep(for: .seconds(1)) }
      }
    }
    let run = try await host.run()
    #expect(run.ending == .forced)
    #expect(run.outcome == .expired)
    #expect(run.expiredAfter == .seconds(30))
    #expect(run.duration == .seconds(35))
    await ended.wait()
    #expect(late.all == [.stale])
    #expect(try host.state().isEmpty)
    #expect(try host.request(run.requestID).attempt == 2)
  }

  @Test("a handler that never returns is stopped by force by the test")
  func forced() async throws {
    let event = Event()
    let host = try TestHost.with { _ in
      await event.wait()
      return .success
    }
    let run = try host.launch()
    run.expire()
    run.force()
    let report = try await run.ended()
    #expect(report.ending == .forced)
    event.set()
    #expect(run.report.ending == .forced)
  }

  @Test("a condition is lost for the runs that require it")
  func conditions() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(300))
      return .success
    }
    let online = try host.launch(conditions: [.network, .power])
    let offline = try host.launch()
    try await host.advance(by: .seconds(60))
    host.lose(.network)
    #expect(try await online.ended().stopReason == .conditions)
    #expect(try await offline.ended().result == .success)
    #expect(try await host.runNext() == nil)
    host.restore(.network)
    #expect(try await host.runNext()?.result == .success)
  }

  @Test("a draining host expires its runs, and starts and submits no more")
  func draining() async throws {
    let host = try TestHost.with { task in
      do { try await task.sleep(for: .seconds(300)) } catch {
        let refusal = #expect(throws: TaskHostError.self) { try task.submit(TaskRequest(identifier: task.identifier)) }
        #expect(refusal?.code == .unavailable)
        throw error
      }
      return .success
    }
    let run = try host.launch()
    try await host.settle()
    try await host.shutdown()
    #expect(run.report.stopReason == .draining)
    #expect(run.report.outcome == .stopped)
    #expect(throws: TestHostError.self) { try host.launch() }
  }

  @Test("what the handler does is waited for as it happens, and told of when it never does")
  func reached() async throws {
    let host = try TestHost.with { task in
      for step in 1...3 {
        task.progress(UInt64(step), of: 3)
        try await task.sleep(for: .seconds(1))
      }
      return .success
    }
    let run = try host.launch()
    try await run.reached("two steps") { $0.progress.last?.completed == 2 }
    run.cancel()
    #expect(try await run.ended().outcome == .cancelled)
    let error = await #expect(throws: TestHostError.self) { try await run.reached("a tenth step") { $0.progress.count == 10 } }
    #expect(error?.description.hasPrefix("the run ended before a tenth step:\norg.example.closure, attempt 1: ") == true)
  }
}
