import TestSupport
import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Virtual clock", .timeLimit(.minutes(10)))
struct ClockTests {
  @Test("a handler that sleeps nine minutes is done at once, nine virtual minutes later")
  func longSleep() async throws {
    let host = try TestHost.with { task in
      let before = task.now
      try await task.sleep(for: .seconds(540))
      task.setMessage("\(task.now.timeIntervalSince(before))")
      return .success
    }
    let begin = ContinuousClock.now
    let run = try await host.run()
    #expect(run.result == .success)
    #expect(run.duration == .seconds(540))
    #expect(run.message == "540.0")
    #expect(host.elapsed == .seconds(540))
    #expect(ContinuousClock.now - begin < .seconds(30))
  }

  @Test("time stands still until the test waits, and then passes by no more than it says")
  func advance() async throws {
    let host = try TestHost.with { task in
      for step in 1...5 {
        task.progress(UInt64(step), of: 5)
        try await task.sleep(for: .seconds(10))
      }
      return .success
    }
    let run = try host.launch()
    try await host.settle()
    #expect(run.report.progress.map(\.completed) == [1])
    #expect(host.elapsed == .zero)
    try await host.advance(by: .seconds(9))
    #expect(run.report.progress.count == 1)
    try await host.advance(by: .seconds(1))
    #expect(run.report.progress.map(\.completed) == [1, 2])
    try await host.advance(by: .seconds(25))
    #expect(run.report.progress.map(\.time) == [.zero, .seconds(10), .seconds(20), .seconds(30)])
    #expect(host.elapsed == .seconds(35))
    #expect(run.isLive)
    #expect(try await run.ended().duration == .seconds(50))
  }

  @Test("sibling tasks sleep at the same time, and wake in order")
  func siblings() async throws {
    let woken = Seen<Int>()
    let host = try TestHost.with { task in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seconds in [30, 10, 20] {
          group.addTask {
            try await task.sleep(for: .seconds(seconds))
            woken.note(seconds)
          }
        }
        try await group.waitForAll()
      }
      return .success
    }
    #expect(try await host.run().duration == .seconds(30))
    #expect(woken.all == [10, 20, 30])
  }

  @Test("two runs share the clock")
  func twoRuns() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(60))
      return .success
    }
    let first = try host.launch()
    try await host.advance(by: .seconds(20))
    let second = try host.launch()
    #expect(try await second.ended().ended == .seconds(80))
    #expect(first.report.ended == .seconds(60))
  }

  @Test("a sleep whose task is cancelled ends at once, and its wake-up with it")
  func cancelledSleep() async throws {
    let host = try TestHost.with { task in
      let sleeper = Task { try await task.sleep(for: .seconds(3600)) }
      try await task.sleep(for: .seconds(5))
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
      await #expect(throws: CancellationError.self) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.cancelAll()
          group.addTask { try await task.sleep(for: .seconds(1)) }
          try await group.waitForAll()
        }
      }
      return .success
    }
    #expect(try await host.run().duration == .seconds(5))
  }

  @Test("a budget expires exactly at its moment", arguments: [(29_999, false), (30_000, true), (30_001, true)])
  func budget(milliseconds: Int, expires: Bool) async throws {
    let host = try TestHost.with(Refresh.self) { task in
      #expect(task.remaining == .seconds(30))
      #expect(task.grace == .seconds(5))
      do { try await task.sleep(for: .milliseconds(milliseconds)) } catch {
        #expect(task.isExpired)
        #expect(task.stopReason == .budget)
        #expect(task.remaining == .zero)
        #expect(task.grace == .seconds(5))
        throw error
      }
      #expect(task.remaining == .milliseconds(30_000 - milliseconds))
      return .success
    }
    let run = try await host.run()
    #expect(run.isExpired == expires)
    #expect(run.expiredAfter == (expires ? .seconds(30) : nil))
    #expect(run.result == (expires ? .retry() : .success))
  }

  @Test("a continued run expires when its progress stands still for the stall limit, and not before")
  func stall() async throws {
    let host = try TestHost.with(Continued.self) { task in
      for step in 1...100 {
        task.progress(UInt64(step), of: 0)
        try await task.sleep(for: .seconds(59))
      }
      while true {
        task.progress(100, of: 0)
        try await task.sleep(for: .seconds(10))
      }
    }
    let run = try await host.run()
    #expect(run.stopReason == .stalled)
    #expect(run.expiredAfter == .seconds(59 * 99 + 60))
  }

  @Test("the wall clock jumps, and only the wall clock")
  func wallClock() async throws {
    let host = try TestHost.with { task in
      let before = task.now
      try await task.sleep(for: .seconds(60))
      try task.setOutput(["passed": task.now.timeIntervalSince(before)])
      return .success
    }
    let run = try host.launch()
    try await host.settle()
    host.jumpWallClock(by: .seconds(-3600))
    let report = try await run.ended()
    #expect(report.duration == .seconds(60))
    #expect(try report.output(as: [String: Double].self) == ["passed": -3540])
  }

  @Test("a test may hold the clock while its handler exchanges something in real time")
  func held() async throws {
    let event = Event()
    let host = try TestHost.with { task in
      async let ticks: Void = task.sleep(for: .seconds(100))
      await event.wait()
      task.setMessage("at \(task.remaining)")
      try await ticks
      return .success
    }
    let run = try host.launch()
    async let ended = run.ended()
    await host.holdingClock { event.set() }
    #expect(try await ended.duration == .seconds(100))
  }

  @Test("a handler that waits for something that is not on the clock is told of by the watchdog, with what to do")
  func stuck() async throws {
    var options = TestHostOptions()
    options.watchdog = .seconds(2)
    let event = Event()
    let host = try TestHost.with(options: options) { _ in
      await event.wait()
      return .success
    }
    let run = try host.launch()
    let error = await #expect(throws: TestHostError.self) { try await run.ended() }
    #expect(error?.description.contains("none of them sleeps on the clock. Task.sleep is the machine's") == true)
    event.set()
    #expect(try await run.ended().result == .success)
  }

  @Test("time passes regardless of the handlers where the test says so")
  func regardless() async throws {
    let event = Event()
    let host = try TestHost.with(Refresh.self) { task in
      await withTaskCancellationHandler {
        await event.wait()
      } onCancel: {
        event.set()
      }
      return .snooze()
    }
    let run = try host.launch()
    try await host.advance(by: .seconds(31), waitingForHandlers: false)
    let report = try await run.ended()
    #expect(report.expiredAfter == .seconds(30))
    #expect(report.result == .snooze())
  }

  @Test("a task that waits is cancelled with its test")
  func cancelledWait() async throws {
    let event = Event()
    let host = try TestHost.with { _ in
      await event.wait()
      return .success
    }
    let run = try host.launch()
    let waiting = Task { try await run.ended() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    event.set()
    try await run.ended()
  }

  @Test("a thousand sleeps in ten hosts at the same time all end at their moments")
  func parallel() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask {
          let host = try TestHost.with { task in
            for _ in 1...100 { try await task.sleep(for: .milliseconds(1500)) }
            return .success
          }
          #expect(try await host.run().duration == .seconds(150))
        }
      }
      try await group.waitForAll()
    }
  }
}
