import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Requests", .timeLimit(.minutes(10)))
struct RequestTests {
  @Test("a request that retries is run again after the backoff, until it is done")
  func backoff() async throws {
    let host = try TestHost.with { task in
      task.attempt < 4 ? .retry() : .success
    }
    let request = try await host.runUntilDone()
    #expect(request.state == .succeeded)
    #expect(request.runs.map(\.attempt) == [1, 2, 3, 4])
    #expect(request.runs.map(\.started) == [0, 30, 90, 210].map { .seconds($0) })
    #expect(Set(request.runs.map(\.requestID)).count == 1)
  }

  @Test("a request whose attempts are spent has failed")
  func deadLetter() async throws {
    let host = try TestHost.with { _ in throw TaskFailure.temporary("no luck", retryAfter: .seconds(7)) }
    let request = try await host.runUntilDone()
    #expect(request.state == .failed)
    #expect(request.attempt == 5)
    #expect(request.runs.map(\.result) == Array(repeating: .retry(after: .seconds(7)), count: 5))
    #expect(request.runs.map(\.started) == [0, 7, 14, 21, 28].map { .seconds($0) })
    #expect(request.lastRun?.message == "no luck")
  }

  @Test("a snooze costs no attempt")
  func snooze() async throws {
    let host = try TestHost.with { task in
      let runs = (try task.checkpoint.value(Int.self) ?? 0) + 1
      try task.checkpoint.setValue(runs)
      return runs < 20 ? .snooze(after: runs == 1 ? .seconds(60) : nil) : .noop
    }
    let request = try await host.runUntilDone()
    #expect(request.state == .succeeded)
    #expect(request.runs.count == 20)
    #expect(request.runs.allSatisfy { $0.attempt == 1 })
    #expect(request.lastRun?.started == .seconds(60 + 18))
    #expect(request.lastRun?.outcome == .noop)
  }

  @Test("a request that needs more runs than the test allows is returned as it is")
  func maxAttempts() async throws {
    let host = try TestHost.with { _ in .snooze() }
    let request = try await host.runUntilDone(maxAttempts: 3)
    #expect(request.state == .pending)
    #expect(request.runs.count == 3)
  }

  @Test("what a handler submits is there, and is run at its time")
  func submitted() async throws {
    struct Next: Codable, Equatable { let page: Int }
    let host = try TestHost.with { task in
      guard task.payloadBytes.isEmpty else { return .noop }
      let later = task.now.addingTimeInterval(3600)
      let first = try task.submit(TaskRequest(identifier: task.identifier, json: Next(page: 2), earliestBegin: later))
      #expect(first.disposition == .created)
      #expect(first.nextStart == later)
      try task.submit(TaskRequest(identifier: task.identifier, json: Next(page: 1)))
      return .success
    }
    let run = try await host.run()
    #expect(try run.submissions.map { try $0.payload(as: Next.self) } == [Next(page: 2), Next(page: 1)])
    #expect(host.pendingRequests.map(\.due) == [.seconds(3600), .zero])
    let first = try #require(try await host.runNext())
    #expect(first.started == .zero)
    #expect(first.payload == Array(#"{"page":1}"#.utf8))
    #expect(try await host.runNext()?.started == .seconds(3600))
    #expect(try await host.runNext() == nil)
  }

  @Test("what a handler says of a request is shown, and the request repeats, waits and is woken as in a host")
  func wholeRequests() async throws {
    let host = try TestHost.with { task in
      guard task.payloadBytes.isEmpty else { return .success }
      var hourly = TaskRequest(identifier: task.identifier, payload: [1])
      hourly.delay = .seconds(60)
      hourly.repetition = .every(.seconds(3600), missed: .all(limit: 2, spread: .seconds(5)))
      hourly.tags = ["a"]
      hourly.priority = 3
      let first = try task.submit(hourly)
      let error = #expect(throws: TaskHostError.self) {
        var request = TaskRequest(identifier: task.identifier)
        request.after = [.init(first.requestID)]
        try task.submit(request)
      }
      #expect(error?.message.contains("repeats and never ends") == true)
      var woken = TaskRequest(identifier: task.identifier, payload: [2])
      woken.event = "pushed"
      let second = try task.submit(woken)
      var last = TaskRequest(identifier: task.identifier, payload: [3])
      last.after = [.init(second.requestID)]
      try task.submit(last)
      return .success
    }
    let run = try await host.run()
    let hourly = try #require(run.submissions.first)
    #expect(hourly.delay == .seconds(60) && hourly.tags == ["a"] && hourly.priority == 3)
    #expect(hourly.repetition == .every(.seconds(3600), missed: .all(limit: 2, spread: .seconds(5))))
    #expect(run.submissions.last?.after.count == 1)
    #expect(host.pendingRequests.map(\.state) == [.pending, .pending, .blocked])
    #expect(try await host.runNext()?.started == .seconds(60))
    #expect(try await host.runNext()?.started == .seconds(3660))
    try host.post("pushed")
    #expect(try await host.runNext()?.payload == [2])
    #expect(try await host.runNext()?.payload == [3])
  }

  @Test("a time that somebody named follows the wall clock, a delay does not, nor does a snooze")
  func wallClock() async throws {
    let host = try TestHost.with { _ in .snooze(after: .seconds(1000)) }
    var request = try TestRequest()
    request.earliestBegin = host.now.addingTimeInterval(3600)
    let named = try host.submit(request)
    let delayed = try host.submit(after: .seconds(3600))
    let snoozed = try await host.run()
    host.jumpWallClock(by: .seconds(600))
    #expect(try host.request(named.id).due == .seconds(3000))
    #expect(try host.request(delayed.id).due == .seconds(3600))
    #expect(try host.request(snoozed.requestID).due == .seconds(1000))
  }

  @Test(
    "a unique key that is held: keep, replace, update, append",
    arguments: [
      (ConflictPolicy.keep, Submission.Disposition.kept), (.replace, .replaced), (.update, .updated), (.append, .appended),
      (.none, .created),
    ])
  func conflicts(policy: ConflictPolicy, disposition: Submission.Disposition) async throws {
    let host = try TestHost.with { task in
      guard task.payloadBytes == Array("submit".utf8) else { return .success }
      let answer = try task.submit(
        TaskRequest(identifier: task.identifier, payload: Array("new".utf8), uniqueKey: "daily", onConflict: policy))
      #expect(answer.disposition == disposition)
      task.setMessage(answer.requestID)
      return .success
    }
    let holder = try host.submit(payload: Array("old".utf8), uniqueKey: "daily", onConflict: .keep)
    let run = try await host.run(payload: Array("submit".utf8))
    let held = try host.request(holder.id)
    switch policy {
    case .keep:
      #expect(run.message == holder.id)
      #expect(held.payload == Array("old".utf8))
      #expect(host.pendingRequests.count == 1)
    case .update:
      #expect(run.message == holder.id)
      #expect(held.payload == Array("new".utf8))
    case .replace:
      #expect(held.state == .cancelled)
      #expect(host.pendingRequests.map(\.payload) == [Array("new".utf8)])
    case .append:
      #expect(host.pendingRequests.map(\.state) == [.pending, .blocked])
      try await host.rerun(holder.id)
      #expect(host.pendingRequests.map(\.state) == [.pending])
    case .none:
      #expect(host.pendingRequests.count == 2)
    }
  }

  @Test("a request that replaces one that runs waits for the end of that run")
  func replacesRunning() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(60))
      return .success
    }
    let holder = try host.submit(uniqueKey: "daily", onConflict: .replace)
    let run = try host.launch(requestID: holder.id)
    let next = try host.submit(uniqueKey: "daily", onConflict: .replace)
    #expect(next.state == .blocked)
    try await run.ended()
    #expect(run.report.stopReason == .replaced)
    #expect(try host.request(holder.id).state == .cancelled)
    #expect(try await host.runUntilDone(requestID: next.id).state == .succeeded)
  }

  @Test("a handler cancels requests it may submit to, and no others")
  func cancel() async throws {
    var options = TestHostOptions()
    options.maySubmit = ["org.example.other*"]
    let host = try TestHost.with(options: options) { task in
      let other = try task.submit(TaskRequest(identifier: "org.example.other.sync"))
      try task.cancel(requestID: other.requestID)
      let again = #expect(throws: TaskHostError.self) { try task.cancel(requestID: other.requestID) }
      #expect(again?.code == .notFound)
      let malformed = #expect(throws: TaskHostError.self) { try task.cancel(requestID: "42") }
      #expect(malformed?.code == .invalid)
      let foreign = #expect(throws: TaskHostError.self) { try task.submit(TaskRequest(identifier: "com.example")) }
      #expect(foreign?.code == .notPermitted)
      try task.cancel(requestID: task.requestID)
      #expect(task.stopReason == .cancelled)
      return .success
    }
    let run = try await host.run()
    #expect(run.outcome == .cancelled)
    #expect(run.result == .success)
    #expect(run.cancellations.count == 2)
    #expect(host.requests.map(\.state) == [.cancelled, .cancelled])
  }

  @Test("more runs than the plugin registered for are refused")
  func concurrency() async throws {
    let host = try TestHost.with { task in
      try await task.sleep(for: .seconds(10))
      return .success
    }
    for _ in 1...4 { _ = try host.launch() }
    let error = #expect(throws: TestHostError.self) { try host.launch() }
    #expect(error?.description == "4 of 4 runs of org.example.closure are live, the maximum that it registered")
    try await host.advance(by: .seconds(10))
    #expect(host.liveRuns.isEmpty)
    #expect(try await host.run().result == .success)
  }
}
