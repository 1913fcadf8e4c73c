import TestSupport
import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Submission", .timeLimit(.minutes(10)))
struct SubmissionTests {
  /// Launches an app with the identifiers; `body` is executed in a run of `a`.
  private func inRun(
    of host: FakeHost = FakeHost(), _ identifiers: [String] = ["a", "b"], hints: [String: BackgroundTasksPlugin.Kind] = [:],
    _ body: @escaping @Sendable (BGTaskScheduler) throws -> Void
  ) async throws {
    host.launch(hints: hints) { scheduler in
      for identifier in identifiers {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in
          #expect(throws: Never.self) { try body(scheduler) }
          task.setTaskCompleted(success: true)
        }
      }
    }
    #expect(await (try host.start("a")).end().result == TASKHOST_SUCCESS)
  }

  private func code(_ body: () throws -> Void) -> BGTaskScheduler.Error.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? BGTaskScheduler.Error)?.code }
  }

  @Test("in a run goes to the host with its date, its conditions and what it is")
  func fields() async throws {
    let host = FakeHost()
    try await inRun(of: host) { scheduler in
      let request = BGProcessingTaskRequest(identifier: "b")
      request.earliestBeginDate = Date(timeIntervalSince1970: 4_000_001_234.5)
      request.requiresNetworkConnectivity = true
      try scheduler.submit(request)
    }
    let pending = try #require(host.pending.first)
    #expect(pending.identifier == "b")
    #expect(pending.text == #"{"background_task":"processing"}"#)
    #expect(pending.earliestBegin == 4_000_001_234_500)
    #expect(pending.conditions == TASKHOST_REQUIRES_NETWORK)
    #expect(pending.onConflict == TASKHOST_CONFLICT_NONE)
  }

  @Test("that names no time, or one that has come, begins at the host's pace; a host that knows none takes it at once")
  func paced() async throws {
    let host = FakeHost()
    try await inRun(of: host) { scheduler in
      try scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
      #expect(host.pending.map(\.earliestBegin) == [Int64(TASKHOST_BEGIN_PACED)])
      let late = BGProcessingTaskRequest(identifier: "a")
      late.earliestBeginDate = Date(timeIntervalSinceNow: -1)
      try scheduler.submit(late)
      #expect(host.pending.map(\.earliestBegin) == [Int64(TASKHOST_BEGIN_PACED)])
      host.knowsNoPace()
      try scheduler.submit(late)
      #expect(host.pending.map(\.earliestBegin) == [0])
    }
  }

  @Test("replaces what is pending for the identifier, and what others have stays")
  func replaces() async throws {
    let host = FakeHost()
    host.wait(FakeRequest(id: "other", identifier: "b", payload: ""))
    try await inRun(of: host) { scheduler in
      for seconds in 1...3 {
        let request = BGProcessingTaskRequest(identifier: "a")
        request.earliestBeginDate = Date(timeIntervalSince1970: Double(4_000_000_000 + seconds))
        try scheduler.submit(request)
      }
    }
    #expect(host.pending.map(\.identifier) == ["b", "a"])
    #expect(host.pending.last?.earliestBegin == 4_000_000_003_000)
  }

  @Test("from many threads at once leaves one pending")
  func race() async throws {
    let host = FakeHost()
    try await inRun(of: host) { scheduler in
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "b")) }
      }
    }
    #expect(host.pending.count == 1)
  }

  @Test("of a second refresh is one too many; of the same identifier it replaces the first")
  func oneRefresh() async throws {
    try await inRun { scheduler in
      try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a"))
      try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a"))
      let code = self.code { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "b")) }
      #expect(code == .tooManyPendingTaskRequests)
      try scheduler.submit(BGProcessingTaskRequest(identifier: "b"))
    }
  }

  @Test("of an eleventh processing or health research request is one too many")
  func tenProcessing() async throws {
    let identifiers = ["a"] + (1...11).map { "p\($0)" }
    try await inRun(identifiers) { scheduler in
      for number in 1...9 { try scheduler.submit(BGProcessingTaskRequest(identifier: "p\(number)")) }
      try scheduler.submit(BGHealthResearchTaskRequest(identifier: "p10"))
      #expect(self.code { try scheduler.submit(BGProcessingTaskRequest(identifier: "p11")) } == .tooManyPendingTaskRequests)
      #expect(self.code { try scheduler.submit(BGHealthResearchTaskRequest(identifier: "p11")) } == .tooManyPendingTaskRequests)
      try scheduler.submit(BGProcessingTaskRequest(identifier: "p10"))
      try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a"))
    }
  }

  @Test("for an identifier that has no handler is not permitted")
  func unregistered() async throws {
    try await inRun(hints: ["w.*": .continued]) { scheduler in
      #expect(self.code { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "c")) } == .notPermitted)
      let covered = BGContinuedProcessingTaskRequest(identifier: "w.1", title: "", subtitle: "")
      #expect(self.code { try scheduler.submit(covered) } == .notPermitted)
    }
  }

  @Test("outside launch and runs is unavailable, and so it is outside taskhost")
  func unavailable() async throws {
    let host = FakeHost()
    try await inRun(of: host) { _ in }
    #expect(code { try host.scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) } == .unavailable)
    #expect(code { try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "a")) } == .unavailable)
    #expect(await host.scheduler.pendingTaskRequests().isEmpty)
    host.scheduler.cancel(taskRequestWithIdentifier: "a")
    host.scheduler.cancelAllTaskRequests()
  }

  @Test("goes through another live run where the first has been given up")
  func otherRun() async throws {
    let host = FakeHost()
    let (first, second) = (Waiting(), Waiting())
    let begun = [Event(), Event()]
    host.launch { scheduler in
      for (index, wait) in [first, second].enumerated() {
        scheduler.register(forTaskWithIdentifier: "a\(index)", using: nil) { task in
          begun[index].set()
          wait.block()
          task.setTaskCompleted(success: true)
        }
      }
    }
    let forced = try host.start("a0")
    await begun[0].wait()
    let live = try host.start("a1")
    await begun[1].wait()
    forced.force()
    try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a0"))
    #expect(host.pending.map(\.identifier) == ["a0"])
    first.release()
    second.release()
    _ = await (forced.end(), live.end())
  }

  @Test(
    "that the host refuses tells why",
    arguments: [
      (TASKHOST_ELIMIT, BGTaskScheduler.Error.Code.tooManyPendingTaskRequests), (TASKHOST_EUNAVAILABLE, .unavailable),
      (TASKHOST_ENOTPERMITTED, .notPermitted),
    ])
  func hostRefuses(_ status: Int, _ expected: BGTaskScheduler.Error.Code) async throws {
    let host = FakeHost()
    host.fail("submit", with: status)
    try await inRun(of: host) { scheduler in
      do {
        try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a"))
        Issue.record("the submission was taken")
      } catch let error as BGTaskScheduler.Error {
        #expect(error.code == expected)
        #expect(error.localizedDescription.contains("the fake host says no"))
      }
    }
  }

  @Test("to a host that does not observe its conditions goes without them, says so once for each set, and lists them as asked for")
  func conditionsNotOffered() async throws {
    let host = FakeHost()
    host.fail("conditions", with: TASKHOST_EUNSUPPORTED)
    let run = Box<[Bool]>([])
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        for power in [false, false, true, true] {
          let request = BGProcessingTaskRequest(identifier: "a")
          request.requiresNetworkConnectivity = true
          request.requiresExternalPower = power
          #expect(throws: Never.self) { try scheduler.submit(request) }
        }
        let pending = scheduler.core.pendingRequests().first as? BGProcessingTaskRequest
        run.value = [pending?.requiresNetworkConnectivity == true, pending?.requiresExternalPower == true]
        task.setTaskCompleted(success: true)
      }
    }
    let record = await (try host.start("a")).end()
    #expect(record.result == TASKHOST_SUCCESS)
    #expect(run.value == [true, true])
    #expect(host.pending.map(\.conditions) == [0])
    let warnings = record.log.filter { $0.level == TASKHOST_WARNING }.map(\.text)
    #expect(warnings.count == 2)
    #expect(warnings.first?.contains("a: this host does not observe the conditions the request requires (network)") == true)
    #expect(warnings.last?.contains("(network, power)") == true)
    // Its run is what was asked for.
    #expect(await (try host.startPending("a")).end().result == TASKHOST_SUCCESS)
  }

  @Test("while launching to a host that does not observe its conditions goes without them; a later host gets them again")
  func conditionsNotOfferedAtLaunch() async throws {
    let host = FakeHost()
    host.fail("conditions", with: TASKHOST_EUNSUPPORTED)
    let launch = { (scheduler: BGTaskScheduler) in
      _ = scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in }
      let request = BGProcessingTaskRequest(identifier: "a")
      request.requiresExternalPower = true
      #expect(throws: Never.self) { try scheduler.submit(request) }
      let pending = scheduler.core.pendingRequests().first as? BGProcessingTaskRequest
      #expect(pending?.requiresExternalPower == true)
    }
    host.launch(launch)
    #expect(host.pending.map(\.conditions) == [0])
    #expect(host.log.filter { $0.text.contains("does not observe") }.count == 1)
    host.fail("conditions", with: nil)
    host.launch(launch)
    #expect(host.pending.map(\.conditions) == [TASKHOST_REQUIRES_POWER])
    #expect(host.log.filter { $0.text.contains("does not observe") }.count == 1)
  }

  @Test("that is refused for another reason is not tried without its conditions", arguments: [TASKHOST_ELIMIT, TASKHOST_EUNAVAILABLE])
  func conditionsKept(_ status: Int) async throws {
    let host = FakeHost()
    host.fail("conditions", with: status)
    try await inRun(of: host) { scheduler in
      let request = BGProcessingTaskRequest(identifier: "a")
      request.requiresExternalPower = true
      #expect(self.code { try scheduler.submit(request) } != nil)
    }
    #expect(host.pending.isEmpty)
  }

  @Test("that is refused leaves the one that it would have replaced") func refusedReplacement() async throws {
    let host = FakeHost()
    host.fail("conditions", with: TASKHOST_EUNAVAILABLE)
    try await inRun(of: host) { scheduler in
      try scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
      let request = BGProcessingTaskRequest(identifier: "a")
      request.requiresExternalPower = true
      #expect(self.code { try scheduler.submit(request) } == .unavailable)
    }
    #expect(host.pending.map(\.identifier) == ["a"])
  }

  @Test("from a completion handler that was asked for while launching is part of the launch")
  func fromCompletionHandler() {
    let host = FakeHost()
    let wait = Waiting()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in }
      scheduler.getPendingTaskRequests { requests in
        wait.block()
        #expect(requests.isEmpty)
        #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
      }
      wait.release()
    }
    #expect(host.pending.map(\.identifier) == ["a"])
    #expect(host.lateCalls.isEmpty)
  }

  @Test("on another queue while launching is waited for, and after that it is unavailable")
  func onAnotherQueue() async {
    let host = FakeHost(timing: Timing(successor: .zero, launchQuiet: .seconds(3), launchLimit: .seconds(60)))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in }
      DispatchQueue.global().async {
        #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
      }
    }
    #expect(host.pending.map(\.identifier) == ["a"])
    #expect(code { try host.scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) } == .unavailable)
    #expect(host.lateCalls.isEmpty)
  }

  @Test("to a host without the extension is unavailable, and its runs work")
  func noExtension() async throws {
    let host = FakeHost { $0.extension = { _ in nil } }
    try await inRun(of: host) { scheduler in
      #expect(self.code { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) } == .unavailable)
    }
  }

  @Test("in another way: with a completion handler, and async")
  func async() async throws {
    let host = FakeHost()
    let wait = Waiting()
    let begun = Event()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        begun.set()
        wait.block()
        task.setTaskCompleted(success: true)
      }
    }
    let run = try host.start("a")
    await begun.wait()
    try await host.scheduler.submitTaskRequest(BGAppRefreshTaskRequest(identifier: "a"))
    #expect(host.pending.count == 1)
    let error = await withCheckedContinuation { continuation in
      host.scheduler.submitTaskRequest(BGAppRefreshTaskRequest(identifier: "b")) { continuation.resume(returning: $0) }
    }
    #expect((error as? BGTaskScheduler.Error)?.code == .notPermitted)
    wait.release()
    _ = await run.end()
  }

  // MARK: Continued tasks

  @Test("of a continued task begins at once, whatever its date says, and names what it is")
  func continued() async throws {
    let host = FakeHost()
    try await inRun(of: host, ["a", "w.*"]) { scheduler in
      let request = BGContinuedProcessingTaskRequest(identifier: "w.1", title: "Export", subtitle: "")
      request.earliestBeginDate = .distantFuture
      try scheduler.submit(request)
    }
    let pending = try #require(host.pending.first)
    #expect(pending.identifier == "w")
    #expect(pending.earliestBegin == 0)
    let record = RequestDetails(payload: pending.payload)
    #expect(record == RequestDetails(type: .continued, identifier: "w.1", title: "Export", subtitle: "", strategy: 1))
  }

  @Test("that must begin at once is refused where a run is live or a request waits, and taken where not")
  func atOnce() async throws {
    let host = FakeHost()
    try await inRun(of: host, ["a", "b"], hints: ["b": .continued, "a": .continued]) { scheduler in
      let request = BGContinuedProcessingTaskRequest(identifier: "a", title: "", subtitle: "")
      request.strategy = .fail
      #expect(self.code { try scheduler.submit(request) } == .immediateRunIneligible)
      let other = BGContinuedProcessingTaskRequest(identifier: "b", title: "", subtitle: "")
      other.strategy = .fail
      try scheduler.submit(other)
      #expect(host.pending.map(\.identifier) == ["b"])
    }
  }

  @Test("that must begin at once is taken back where the host would have it wait")
  func takenBack() async throws {
    let host = FakeHost()
    host.delayStarts(by: 1)
    try await inRun(of: host, hints: ["b": .continued]) { scheduler in
      let request = BGContinuedProcessingTaskRequest(identifier: "b", title: "", subtitle: "")
      request.strategy = .fail
      #expect(self.code { try scheduler.submit(request) } == .immediateRunIneligible)
    }
    #expect(host.pending.isEmpty)
  }

  @Test("that requires a graphics processor is not permitted: there is none")
  func resources() async throws {
    try await inRun(hints: ["b": .continued]) { scheduler in
      #expect(BGTaskScheduler.supportedResources.isEmpty)
      let request = BGContinuedProcessingTaskRequest(identifier: "b", title: "", subtitle: "")
      request.requiredResources = .gpu
      #expect(self.code { try scheduler.submit(request) } == .notPermitted)
    }
  }

  @Test("that requires a graphics processor takes a token of the resource that the operator has named gpu")
  func graphicsProcessor() async throws {
    let host = FakeHost(graphicsProcessors: 2)
    try await inRun(of: host, hints: ["b": .continued]) { scheduler in
      #expect(scheduler.core.supportedResources == .gpu)
      let request = BGContinuedProcessingTaskRequest(identifier: "b", title: "", subtitle: "")
      request.requiredResources = .gpu
      try scheduler.submit(request)
    }
    #expect(host.pending.map(\.resources) == [["gpu": 1]])
  }
}
