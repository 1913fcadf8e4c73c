import CTaskHost
import Testing

@testable import TaskHostSDK

@Suite("Checkpointed iteration", .timeLimit(.minutes(10)))
struct ForEachTests {
  @Test("a run that spends its budget snoozes; the next goes on behind the last element, and the end empties the checkpoint")
  func budget() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let body: ClosureTask<NoPayload>.Body = { task in
      let result = try await task.forEach(1...5, budget: WorkBudget(items: 2)) { number, _ in seen.add(number) }
      task.setMessage("\(result)")
      return result.taskResult
    }
    let first = try await host.run(body)
    #expect(first.result == taskhost_result(TASKHOST_SNOOZE))
    #expect(first.message == "stopped after 2 items: its items are done; the next run goes on from there")
    #expect(first.progress.last == [2, 5])
    #expect(seen.take() == [1, 2])
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [3, 4])
    let last = try await host.run(body)
    #expect(last.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(last.message == "complete: 1 items, 4 before")
    #expect(last.progress.last == [5, 5])
    #expect(seen.take() == [5])
    // The next occurrence of a repeating request, which keeps its checkpoint, begins anew.
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [1, 2])
  }

  @Test("an empty sequence is a noop and writes nothing")
  func nothing() async throws {
    let host = PatternHost()
    let record = try await host.run { task in
      try await task.forEach([Int]()) { _, _ in Issue.record("there is nothing") }.taskResult
    }
    #expect(record.result == taskhost_result(TASKHOST_NOOP))
    #expect(host.change { $0.checkpointWrites } == 0)
  }

  @Test("bytes that the body counts end the run")
  func bytes() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let record = try await host.run { task in
      try await task.forEach(1...9, budget: WorkBudget(bytes: 100)) { number, meter in
        seen.add(number)
        meter.spend(bytesOut: 40)
      }.taskResult
    }
    #expect(record.result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [1, 2, 3])
  }

  @Test("expiration in mid-iteration: the element being done ends, its place is recorded in grace, the run snoozes")
  func expiry() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let first = try await host.run { task in
      try await task.forEach(1...5) { number, _ in
        seen.add(number)
        if number == 3 { task.fake?.expire() }
      }.taskResult
    }
    #expect(first.result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [1, 2, 3])
    let second = try await host.run { task in try await task.forEach(1...5) { number, _ in seen.add(number) }.taskResult }
    #expect(second.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == [4, 5])
  }

  @Test("an element that expiration cancels is done again; one that no run can finish is a retry, so that attempts end it")
  func cancelledElement() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let body: ClosureTask<NoPayload>.Body = { task in
      try await task.forEach(1...5) { number, _ in
        seen.add(number)
        guard number == 2 else { return }
        task.fake?.expire()
        try await task.sleep(for: .seconds(3600))
      }.taskResult
    }
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [1, 2])
    #expect(try await host.run(body).result == taskhost_result(TASKHOST_RETRY))
    #expect(seen.take() == [2])
  }

  /// The interleaving: checkpoint after 2, elements 3 and 4 are done, and the process dies before the next checkpoint.
  @Test("a crash between an element and its checkpoint shows the elements since the last one again, and no others")
  func crash() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let crashed = try await host.run { task in
      try await task.forEach(1...6, checkpoint: CheckpointInterval(items: 2)) { number, _ in
        seen.add(number)
        if number == 3 { task.fake?.force() }
      }.taskResult
    }
    #expect(crashed.result == taskhost_result(TASKHOST_RETRY))
    _ = seen.take()
    _ = try await host.run { task in try await task.forEach(1...6) { number, _ in seen.add(number) }.taskResult }
    #expect(seen.take() == [3, 4, 5, 6])
  }

  @Test("a full disk at a checkpoint is a retry with the host's sentence; what was recorded before holds")
  func fullDisk() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let body: ClosureTask<NoPayload>.Body = { task in
      try await task.forEach(1...6, checkpoint: CheckpointInterval(items: 2)) { number, _ in
        seen.add(number)
        if number == 3 { host.change { $0.isFull = true } }
      }.taskResult
    }
    let full = try await host.run(body)
    #expect(full.result == taskhost_result(TASKHOST_RETRY))
    #expect(full.message?.contains("(unavailable, -11)") == true)
    #expect(seen.take() == [1, 2, 3, 4])
    host.change { $0.isFull = false }
    _ = try await host.run { task in try await task.forEach(1...6) { number, _ in seen.add(number) }.taskResult }
    #expect(seen.take() == [3, 4, 5, 6])
  }

  @Test("an error of the body is passed on, and the retry begins with the element that failed")
  func failure() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    let failed = try await host.run { task in
      try await task.forEach(1...4) { number, _ in
        if number == 3 { throw TaskFailure.temporary("no answer") }
        seen.add(number)
      }.taskResult
    }
    #expect(failed.result == taskhost_result(TASKHOST_RETRY))
    #expect(failed.message == "no answer")
    _ = try await host.run { task in try await task.forEach(1...4) { number, _ in seen.add(number) }.taskResult }
    #expect(seen.take() == [1, 2, 3, 4])
  }

  @Test("a checkpoint is written after so many elements or so much time")
  func interval() async throws {
    let host = PatternHost()
    _ = try await host.run { task in
      try await task.forEach(1...10, checkpoint: CheckpointInterval(items: 4, time: .seconds(3))) { number, _ in
        if number == 10 { host.advance(3_000) }
      }.taskResult
    }
    // After 4, 8, by time after 10, and the emptying at the end.
    #expect(host.change { $0.checkpointWrites } == 4)
    #expect(host.change { $0.checkpoint } == [])
  }

  @Test("by key: what changes in the sequence between runs neither repeats an element nor loses one behind the place")
  func keys() async throws {
    let host = PatternHost()
    let seen = Items<String>()
    func body(_ names: [String], items: Int?) -> ClosureTask<NoPayload>.Body {
      { task in
        try await task.forEach(names, by: .key(\.self), budget: WorkBudget(items: items)) { name, _ in seen.add(name) }.taskResult
      }
    }
    _ = try await host.run(body(["b", "d", "f", "h"], items: 1))
    #expect(seen.take() == ["b"])
    _ = try await host.run(body(["b", "d", "f", "h"], items: 1))
    #expect(seen.take() == ["d"])
    // "d", the place itself, is gone; "a" is new before it, "e" behind it.
    let last = try await host.run(body(["a", "b", "e", "f", "h"], items: nil))
    #expect(last.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(seen.take() == ["e", "f", "h"])
  }

  @Test("keys out of order are a failure that names them")
  func disorder() async throws {
    let host = PatternHost()
    let record = try await host.run { task in
      try await task.forEach([1, 3, 2], by: .key { $0 }) { _, _ in }.taskResult
    }
    #expect(record.result == taskhost_result(TASKHOST_FAILURE))
    #expect(record.message == "the sequence is not in order: 2 comes after 3; sort it by its key, without duplicates")
  }

  @Test("by position: another version of the sequence starts over")
  func versions() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    for (version, expected) in [("a", [1, 2]), ("a", [3, 4]), ("b", [1, 2])] {
      _ = try await host.run { task in
        try await task.forEach(1...9, by: .position(version: version), budget: WorkBudget(items: 2)) { number, _ in seen.add(number) }
          .taskResult
      }
      #expect(seen.take() == expected)
    }
  }

  @Test("the checkpoint of another iteration, or of the plugin's own making, is no place to go on from")
  func foreignCheckpoint() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    for checkpoint in ["{\"iteration\":\"other\",\"position\":3}", "[1,2]", "\u{1}\u{2}", "{\"iteration\":\"items\",\"position\":-3}"] {
      host.change { $0.checkpoint = Array(checkpoint.utf8) }
      _ = try await host.run { task in try await task.forEach(1...3) { number, _ in seen.add(number) }.taskResult }
      #expect(seen.take() == [1, 2, 3])
    }
  }

  @Test("an asynchronous sequence goes on where it was; one that ends because it was cancelled has not come to its end")
  func asynchronous() async throws {
    let host = PatternHost()
    let seen = Items<Int>()
    func body(open: Bool) -> ClosureTask<NoPayload>.Body {
      { task in
        let (stream, source) = AsyncStream.makeStream(of: Int.self)
        for number in 1...4 { source.yield(number) }
        if !open { source.finish() }
        return try await task.forEach(stream, total: 4) { number, _ in
          seen.add(number)
          if open && number == 4 { task.fake?.expire() }
        }.taskResult
      }
    }
    #expect(try await host.run(body(open: true)).result == taskhost_result(TASKHOST_SNOOZE))
    #expect(seen.take() == [1, 2, 3, 4])
    let last = try await host.run(body(open: false))
    #expect(last.result == taskhost_result(TASKHOST_SUCCESS))
    #expect(last.progress.last == [4, 4])
    #expect(seen.take() == [])
  }
}
