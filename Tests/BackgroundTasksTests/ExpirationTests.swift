import TestSupport
import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Expiration", .timeLimit(.minutes(10)))
struct ExpirationTests {
  @Test("calls the handler once, also while the launch handler blocks its queue, and then has none")
  func calls() async throws {
    let host = FakeHost()
    let (begun, wait, calls) = (Event(), Waiting(), Box(0))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = {
          calls.change { $0 += 1 }
          #expect(task.expirationHandler == nil)
          wait.release()
        }
        #expect(task.expirationHandler != nil)
        begun.set()
        wait.block()
        task.setTaskCompleted(success: false)
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    run.expire()
    let record = await run.end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(calls.value == 1)
    #expect(record.isCleared)
  }

  @Test("a run that is completed with success in its grace has succeeded")
  func successInGrace() async throws {
    let host = FakeHost()
    let begun = Event()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { task.setTaskCompleted(success: true) }
        begun.set()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire(TASKHOST_STOP_DRAINING)
    #expect(await run.end().result == TASKHOST_SUCCESS)
  }

  @Test("without a handler completes the task as a failure at once; what comes later is noted and told")
  func noHandler() async throws {
    let host = FakeHost()
    let (begun, wait, told) = (Event(), Waiting(), Box(false))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        begun.set()
        wait.block()
        task.expirationHandler = { told.value = true }
        #expect(told.value, "it is called where it is set")
        #expect(task.expirationHandler == nil)
        task.setTaskCompleted(success: true)
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire(TASKHOST_STOP_CONDITIONS)
    wait.release()
    let record = await run.end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.message?.contains("A condition it requires was lost. No expirationHandler was set") == true)
  }

  @Test("without a handler ends the run though the app never completes the task")
  func neverCompleted() async throws {
    let host = FakeHost()
    let (returned, kept) = (Event(), Box<BGTask?>(nil))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        kept.value = task
        returned.set()
      }
    }
    let run = try host.start("a")
    await returned.wait()
    run.expire()
    #expect(await run.end().result == TASKHOST_RETRY)
    // Far too late: harmless.
    kept.value?.setTaskCompleted(success: true)
    kept.value?.expirationHandler = {}
    kept.value = nil
  }

  @Test(
    "before the run begins: the launch handler is not called, and the message names the queue it waited for",
    arguments: [(nil, "the queue it was registered with is busy"), (DispatchQueue.main, "the main queue")])
  func before(_ queue: DispatchQueue?, _ words: String) async throws {
    let host = FakeHost()
    let called = Box(false)
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: queue) { _ in called.value = true }
    }
    let record = await (try host.start("a", expired: TASKHOST_STOP_CANCELLED)).end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.message?.contains("had not begun") == true)
    #expect(record.message?.contains(words) == true)
    #expect(!called.value)
    #expect(record.isCleared)
  }

  @Test("while the launch handler waits for its queue: it is not called, and the message says which queue is missing")
  func busyQueue() async throws {
    let host = FakeHost()
    let queue = DispatchQueue(label: "busy")
    let (wait, called) = (Waiting(), Box(false))
    queue.async { wait.block() }
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: queue) { _ in called.value = true }
    }
    let run = try host.start("a")
    run.expire()
    let record = await run.end()
    wait.release()
    queue.sync {}
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.message?.contains("the queue it was registered with is busy") == true)
    #expect(!called.value)
  }

  @Test("calls a handler that was set on the main queue there")
  func mainQueue() async throws {
    let host = FakeHost()
    let begun = Event()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: .main) { task in
        task.expirationHandler = {
          dispatchPrecondition(condition: .onQueue(.main))
          task.setTaskCompleted(success: true)
        }
        begun.set()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    #expect(await run.end().result == TASKHOST_SUCCESS)
  }

  @Test("a handler that was taken back is not called; completion takes it back")
  func takenBack() async throws {
    let host = FakeHost()
    let (begun, called, wait) = (Event(), Box(false), Waiting())
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { called.value = true }
        task.setTaskCompleted(success: true)
        #expect(task.expirationHandler == nil)
        task.expirationHandler = { called.value = true }
        #expect(task.expirationHandler == nil)
        begun.set()
        wait.block()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    wait.release()
    #expect(await run.end().result == TASKHOST_SUCCESS)
    #expect(!called.value)
  }

  @Test("the run lasts until the expiration handler has returned, though that completes the task first")
  func untilReturn() async throws {
    let host = FakeHost()
    let (begun, done) = (Event(), Box(false))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = {
          task.setTaskCompleted(success: false)
          #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
          done.value = true
        }
        begun.set()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    #expect(await run.end().result == TASKHOST_RETRY)
    #expect(done.value)
    #expect(host.pending.count == 1)
  }

  /// The interleaving: the host expires the run, its handler has the operation cancelled; much later the operation completes the task and
  /// only then submits, when the run has ended.
  @Test("an expired run that has been completed is a way for its next request until its grace is over")
  func afterCompletion() async throws {
    let host = FakeHost()
    host.grace = 60_000
    let begun = Event()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { task.setTaskCompleted(success: false) }
        begun.set()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    #expect(await run.end().result == TASKHOST_RETRY)
    try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
    // A second one takes the place of the first.
    try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
    #expect(host.pending.count == 1)
    #expect(await host.scheduler.pendingTaskRequests().count == 1)
    host.scheduler.cancelAllTaskRequests()
    #expect(host.pending.isEmpty)
    #expect(host.lateCalls.isEmpty)
    run.endGrace()
    #expect(throws: BGTaskScheduler.Error.self) { try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a")) }
  }

  @Test("an expired run without a handler is a way for the request that its work submits at its end")
  func afterOwnCompletion() async throws {
    let host = FakeHost()
    host.grace = 60_000
    let (begun, kept) = (Event(), Box<BGTask?>(nil))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        kept.value = task
        begun.set()
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    _ = await run.end()
    try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a"))
    kept.value?.setTaskCompleted(success: false)
    #expect(host.pending.count == 1)
    kept.value = nil
  }

  @Test("a run that did not expire is no way for requests once it has ended")
  func withoutExpiration() async throws {
    let host = FakeHost()
    host.grace = 60_000
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { $0.setTaskCompleted(success: true) }
    }
    _ = await (try host.start("a")).end()
    #expect(throws: BGTaskScheduler.Error.self) { try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a")) }
    #expect(host.lateCalls.isEmpty)
  }

  @Test("a refresh that this module expires stays for the request that its author submits after completing it")
  func refreshSuccessor() async throws {
    let host = FakeHost(timing: Timing(refresh: .milliseconds(20), refreshGrace: .seconds(60), successor: .zero))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = {
          DispatchQueue.global().async {
            task.setTaskCompleted(success: false)
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
              #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
            }
          }
        }
      }
    }
    #expect(await (try host.start("a", payload: #"{"background_task":"refresh"}"#)).end().result == TASKHOST_RETRY)
    #expect(host.pending.count == 1)
  }

  @Test("a refresh is held to its own budget where its identifier has a longer kind")
  func refreshBudget() async throws {
    let host = FakeHost(timing: Timing(refresh: .milliseconds(20), refreshGrace: .zero, successor: .zero))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { task.setTaskCompleted(success: task is BGAppRefreshTask) }
      }
    }
    #expect(await (try host.start("a", payload: #"{"background_task":"refresh"}"#)).end().result == TASKHOST_SUCCESS)
  }

  @Test("a refresh whose identifier is registered as one has the host's budget alone")
  func hostBudget() async throws {
    let host = FakeHost(timing: Timing(refresh: .zero, successor: .zero))
    let (begun, expired) = (Event(), Box(false))
    host.launch(hints: ["a": .refresh]) { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { expired.value = true }
        begun.set()
        Task.detached {
          try await Task.sleep(for: .milliseconds(30))
          task.setTaskCompleted(success: true)
        }
      }
    }
    #expect(await (try host.start("a", payload: #"{"background_task":"refresh"}"#)).end().result == TASKHOST_SUCCESS)
    #expect(!expired.value)
  }

  @Test("racing with completion, over many runs: the task is completed once and the handler always withdrawn")
  func race() async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { task.setTaskCompleted(success: false) }
        DispatchQueue.global().async { task.setTaskCompleted(success: true) }
      }
    }
    for _ in 0..<300 {
      let run = try host.start("a")
      run.expire(waits: false)
      let record = await run.end()
      #expect(record.result == TASKHOST_SUCCESS || record.result == TASKHOST_RETRY)
      #expect(record.isCleared)
    }
    #expect(host.lateCalls.isEmpty)
  }

  /// The interleaving: the host reports expiration, its thread is held up, grace ends and the run is forced, the app completes the task at
  /// last, and only then does the host's thread call.
  @Test("a call after a forced run has returned touches nothing that was freed")
  func afterForce() async throws {
    let host = FakeHost()
    let (begun, wait) = (Event(), Waiting())
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        begun.set()
        wait.block()
        task.setTaskCompleted(success: true)
      }
    }
    let run = try host.start("a")
    await begun.wait()
    run.force()
    wait.release()
    #expect(await !run.end().isCleared)
    run.expire()
  }
}
