import TestSupport
import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Pending requests", .timeLimit(.minutes(10)))
struct PendingRequestTests {
  /// A host that has launched an app, with a run of `a` that lasts until the test lets it go on.
  private func withRun(
    _ identifiers: [String], hints: [String: BackgroundTasksPlugin.Kind] = [:], _ body: (FakeHost) async throws -> Void
  ) async throws {
    let host = FakeHost()
    let wait = Waiting()
    let begun = Event()
    host.launch(hints: hints) { scheduler in
      for identifier in identifiers { scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in } }
      scheduler.register(forTaskWithIdentifier: "runs", using: nil) { task in
        begun.set()
        wait.block()
        task.setTaskCompleted(success: true)
      }
    }
    let run = try host.start("runs")
    await begun.wait()
    try await body(host)
    wait.release()
    _ = await run.end()
  }

  @Test("are given as they were submitted")
  func listed() async throws {
    try await withRun(["a", "b", "c", "w.*"]) { host in
      let refresh = BGAppRefreshTaskRequest(identifier: "a")
      refresh.earliestBeginDate = Date(timeIntervalSince1970: 4_000_000_012)
      try host.scheduler.submit(refresh)
      let processing = BGProcessingTaskRequest(identifier: "b")
      processing.requiresNetworkConnectivity = true
      try host.scheduler.submit(processing)
      let research = BGHealthResearchTaskRequest(identifier: "c")
      research.protectionTypeOfRequiredData = .complete
      research.requiresExternalPower = true
      try host.scheduler.submit(research)
      let continued = BGContinuedProcessingTaskRequest(identifier: "w.1", title: "t", subtitle: "s")
      try host.scheduler.submit(continued)

      let pending = await host.scheduler.pendingTaskRequests()
      try #require(pending.count == 4)
      #expect(pending.map(\.identifier) == ["a", "b", "c", "w.1"])
      #expect(pending[0] is BGAppRefreshTaskRequest)
      #expect(pending[0].earliestBeginDate == Date(timeIntervalSince1970: 4_000_000_012))
      let second = try #require(pending[1] as? BGProcessingTaskRequest)
      #expect(second.requiresNetworkConnectivity && !second.requiresExternalPower && second.earliestBeginDate == nil)
      let third = try #require(pending[2] as? BGHealthResearchTaskRequest)
      #expect(third.requiresExternalPower && third.protectionTypeOfRequiredData?.rawValue == FileProtectionType.complete.rawValue)
      let fourth = try #require(pending[3] as? BGContinuedProcessingTaskRequest)
      #expect(fourth.title == "t" && fourth.subtitle == "s" && fourth.strategy == .queue)

      let called = await withCheckedContinuation { continuation in
        host.scheduler.getPendingTaskRequests { continuation.resume(returning: $0.map(\.identifier)) }
      }
      #expect(called == ["a", "b", "c", "w.1"])
    }
  }

  @Test("are one for each identifier, the newest, though a retry waits beside it; an operator's is what the kind says")
  func distinct() async throws {
    try await withRun(["a", "b"], hints: ["b": .refresh]) { host in
      host.wait(FakeRequest(id: "retry", identifier: "a", payload: #"{"background_task":"refresh"}"#))
      host.wait(FakeRequest(id: "operator", identifier: "b", payload: #"{"days":7}"#))
      host.wait(FakeRequest(id: "next", identifier: "a", payload: #"{"background_task":"processing"}"#))
      let pending = await host.scheduler.pendingTaskRequests()
      #expect(pending.map(\.identifier) == ["b", "a"])
      #expect(pending.first is BGAppRefreshTaskRequest)
      #expect(pending.last is BGProcessingTaskRequest)
    }
  }

  @Test("are cancelled by identifier, the one a wildcard covers alone, and all")
  func cancelled() async throws {
    try await withRun(["a", "b", "w.*"]) { host in
      for identifier in ["a", "b"] { try host.scheduler.submit(BGProcessingTaskRequest(identifier: identifier)) }
      for number in 1...2 {
        try host.scheduler.submit(BGContinuedProcessingTaskRequest(identifier: "w.\(number)", title: "", subtitle: ""))
      }
      host.scheduler.cancel(taskRequestWithIdentifier: "a")
      host.scheduler.cancel(taskRequestWithIdentifier: "w.1")
      host.scheduler.cancel(taskRequestWithIdentifier: "unknown")
      #expect(await host.scheduler.pendingTaskRequests().map(\.identifier) == ["b", "w.2"])
      host.scheduler.cancelAllTaskRequests()
      #expect(host.pending.isEmpty)
    }
  }

  // MARK: While launching

  @Test("while launching: what is submitted is seen at once, replaced, counted, and handed over once the launch has succeeded")
  func launching() {
    let host = FakeHost()
    host.wait(FakeRequest(id: "before", identifier: "a", payload: #"{"background_task":"refresh"}"#))
    host.launch { scheduler in
      for identifier in ["a", "b"] { scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in } }
      #expect(scheduler.core.pendingRequests().map(\.identifier) == ["a"])
      #expect(throws: BGTaskScheduler.Error.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "b")) }
      for seconds in 1...2 {
        let request = BGAppRefreshTaskRequest(identifier: "a")
        request.earliestBeginDate = Date(timeIntervalSince1970: Double(4_000_000_000 + seconds))
        #expect(throws: Never.self) { try scheduler.submit(request) }
      }
      #expect(scheduler.core.pendingRequests().map(\.earliestBeginDate) == [Date(timeIntervalSince1970: 4_000_000_002)])
      #expect(host.pending.map(\.id) == ["before"])
    }
    #expect(host.pending.map(\.earliestBegin) == [4_000_000_002_000])
  }

  @Test("while launching: cancelled by identifier and all, in the order of the calls")
  func launchCancels() {
    let host = FakeHost()
    for identifier in ["a", "b"] { host.wait(FakeRequest(id: identifier, identifier: identifier, payload: "")) }
    host.launch { scheduler in
      for identifier in ["a", "b"] { scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in } }
      scheduler.cancel(taskRequestWithIdentifier: "a")
      #expect(scheduler.core.pendingRequests().map(\.identifier) == ["b"])
      scheduler.cancelAllTaskRequests()
      #expect(throws: Never.self) { try scheduler.submit(BGProcessingTaskRequest(identifier: "b")) }
      #expect(scheduler.core.pendingRequests().map(\.identifier) == ["b"])
    }
    #expect(host.pending.map(\.text) == [#"{"background_task":"processing"}"#])
  }

  @Test("while launching: a submission before the handler is registered is not permitted")
  func tooEarly() {
    let host = FakeHost()
    host.launch { scheduler in
      do {
        try scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
        Issue.record("the submission was taken")
      } catch { #expect((error as? BGTaskScheduler.Error)?.code == .notPermitted) }
    }
  }
}
