import TestSupport
import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Runs", .timeLimit(.minutes(10)))
struct RunTests {
  private static let payloads: [BackgroundTasksPlugin.Kind: String] = [
    .refresh: #"{"background_task":"refresh"}"#, .processing: #"{"background_task":"processing"}"#,
    .healthResearch: #"{"background_task":"health_research"}"#, .continued: #"{"background_task":"continued","title":"t"}"#,
  ]

  /// A host that has launched an app which notes the class of each task of `a`.
  private func host(hints: [String: BackgroundTasksPlugin.Kind] = [:], _ classes: Box<[String]>) -> FakeHost {
    let host = FakeHost()
    launch(host, hints: hints, classes)
    return host
  }

  private func launch(_ host: FakeHost, hints: [String: BackgroundTasksPlugin.Kind] = [:], _ classes: Box<[String]>) {
    host.launch(hints: hints) { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        classes.change { $0.append("\(type(of: task))") }
        #expect(task.identifier == "a")
        task.setTaskCompleted(success: true)
      }
    }
  }

  @Test(
    "give the launch handler the task that was asked for",
    arguments: [
      (BackgroundTasksPlugin.Kind.refresh, "BGAppRefreshTask"), (.processing, "BGProcessingTask"),
      (.healthResearch, "BGHealthResearchTask"),
      (.continued, "BGContinuedProcessingTask"),
    ])
  func classes(_ type: BackgroundTasksPlugin.Kind, _ name: String) async throws {
    let classes = Box<[String]>([])
    let record = await (try host(classes).start("a", payload: Self.payloads[type] ?? "")).end()
    #expect(classes.value == [name])
    #expect(record.result == TASKHOST_SUCCESS)
    #expect(record.isCleared)
    #expect(record.message == nil)
  }

  @Test(
    "end as a fetch: new data, nothing new, failed",
    arguments: [
      (UIBackgroundFetchResult.newData, TASKHOST_SUCCESS), (.noData, TASKHOST_NOOP), (.failed, TASKHOST_RETRY),
    ])
  func fetch(_ result: UIBackgroundFetchResult, _ recorded: Int) async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { $0.setTaskCompleted(result) }
      scheduler.register(forTaskWithIdentifier: "b", using: nil) { task in
        let done = task.fetchCompletionHandler
        done(result)
        done(.newData)
      }
    }
    for identifier in ["a", "b"] { #expect(await (try host.start(identifier)).end().result == recorded) }
  }

  @Test("without a payload of this module's are what the author said")
  func hinted() async throws {
    let classes = Box<[String]>([])
    _ = await (try host(hints: ["a": .refresh], classes).start("a", payload: #"{"days":7}"#)).end()
    #expect(classes.value == ["BGAppRefreshTask"])
  }

  @Test("without a payload and a hint are processing, then what ran last, also in a new process, and what was submitted last before all")
  func remembered() async throws {
    let classes = Box<[String]>([])
    let host = host(classes)
    _ = await (try host.start("a")).end()
    _ = await (try host.start("a", payload: Self.payloads[.refresh] ?? "")).end()
    _ = await (try host.start("a")).end()
    #expect(host.state.count == 1)

    let next = FakeHost()
    for (key, value) in host.state { next.setState(value, for: key) }
    launch(next, classes)
    _ = await (try next.start("a")).end()
    next.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        classes.change { $0.append("\(type(of: task))") }
        task.setTaskCompleted(success: true)
      }
      #expect(throws: Never.self) { try scheduler.submit(BGHealthResearchTaskRequest(identifier: "a")) }
    }
    _ = await (try next.start("a")).end()
    #expect(
      classes.value == ["BGProcessingTask", "BGAppRefreshTask", "BGAppRefreshTask", "BGAppRefreshTask", "BGHealthResearchTask"])
  }

  @Test("that are completed without success are tried again, and say so")
  func failure() async throws {
    let host = FakeHost()
    host.launch { $0.register(forTaskWithIdentifier: "a", using: nil) { $0.setTaskCompleted(success: false) } }
    let record = await (try host.start("a")).end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.message == "the app completed it with success: false")
  }

  @Test("that are completed twice end as the first call said, with a warning", arguments: [true, false])
  func twice(_ first: Bool) async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.setTaskCompleted(success: first)
        task.setTaskCompleted(success: !first)
      }
    }
    let record = await (try host.start("a")).end()
    #expect(record.result == (first ? TASKHOST_SUCCESS : TASKHOST_RETRY))
    #expect(record.log.map(\.level) == [TASKHOST_WARNING])
  }

  @Test("completed by many threads at once end once")
  func race() async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        DispatchQueue.concurrentPerform(iterations: 8) { _ in task.setTaskCompleted(success: true) }
      }
    }
    for _ in 0..<100 {
      let record = await (try host.start("a")).end()
      #expect(record.result == TASKHOST_SUCCESS)
      #expect(record.log.count == 7)
    }
  }

  @Test("last until the launch handler has returned, though the task was completed before")
  func untilReturn() async throws {
    let host = FakeHost()
    let completed = Event()
    let wait = Waiting()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.setTaskCompleted(success: true)
        completed.set()
        wait.block()
        #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
      }
    }
    let run = try host.start("a")
    await completed.wait()
    wait.release()
    #expect(await run.end().result == TASKHOST_SUCCESS)
    #expect(host.pending.count == 1)
  }

  @Test("stay for a request that is submitted just after completion, elsewhere")
  func successor() async throws {
    let host = FakeHost(timing: Timing(successor: .seconds(50)))
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        Task {
          task.setTaskCompleted(success: true)
          await Task.yield()
          #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
        }
      }
    }
    #expect(await (try host.start("a")).end().result == TASKHOST_SUCCESS)
    #expect(host.pending.count == 1)
  }

  @Test("begin on the queue that was named, whatever form the handler has, and each identifier on its own where none was")
  func queues() async throws {
    let host = FakeHost()
    let queue = DispatchQueue(label: "app")
    let plain: (BGTask) -> Void = { task in
      dispatchPrecondition(condition: .onQueue(queue))
      task.setTaskCompleted(success: true)
    }
    let both = DispatchSemaphore(value: 0)
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: queue) { task in
        dispatchPrecondition(condition: .onQueue(queue))
        task.setTaskCompleted(success: true)
      }
      let form: any Registering = scheduler
      _ = form.register(forTaskWithIdentifier: "b", using: queue, launchHandler: plain)
      scheduler.register(forTaskWithIdentifier: "c", using: .main) { task in
        dispatchPrecondition(condition: .onQueue(.main))
        task.setTaskCompleted(success: true)
      }
      // Both block their queue until the other has begun.
      scheduler.register(forTaskWithIdentifier: "d", using: nil) { task in
        both.wait()
        task.setTaskCompleted(success: true)
      }
      scheduler.register(forTaskWithIdentifier: "e", using: nil) { task in
        both.signal()
        task.setTaskCompleted(success: true)
      }
    }
    let runs = try ["a", "b", "c", "d", "e"].map { try host.start($0) }
    for run in runs { #expect(await run.end().result == TASKHOST_SUCCESS) }
  }

  @Test("begin on the main actor where the handler belongs to it, though no queue was named")
  @MainActor
  func mainActor() async throws {
    let host = FakeHost()
    let app = MainActorApp()
    host.launch { app.launch($0) }
    #expect(await (try host.start("a")).end().result == TASKHOST_SUCCESS)
    #expect(app.count == 1)
  }

  @Test("of an identifier that only an earlier process had a handler for fail for good")
  func noHandler() async throws {
    let host = FakeHost()
    host.launch(hints: ["w.*": .continued]) { $0.register(forTaskWithIdentifier: "a", using: nil) { _ in } }
    let record = await (try host.start("w", payload: #"{"background_task":"continued","identifier":"w.gone"}"#)).end()
    #expect(record.result == TASKHOST_FAILURE)
    #expect(record.message?.contains("w.gone") == true)
    // A wildcard's own handler takes what has none.
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "w.*", using: nil) { task in task.setTaskCompleted(success: task.identifier == "w.gone") }
    }
    let taken = await (try host.start("w", payload: #"{"background_task":"continued","identifier":"w.gone"}"#)).end()
    #expect(taken.result == TASKHOST_SUCCESS)
  }

  @Test("end when nobody can complete their task any more, with a message, and wait for a launch handler that has not returned")
  func nobodyLeft() async throws {
    let host = FakeHost()
    let wait = Waiting()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        task.expirationHandler = { Issue.record("nobody is left to be told") }
      }
      scheduler.register(forTaskWithIdentifier: "b", using: nil) { _ in wait.block() }
    }
    let record = await (try host.start("a")).end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.message?.contains("setTaskCompleted was never called") == true, "\(record)")
    #expect(record.log.contains { $0.level == TASKHOST_WARNING && $0.text.contains("its task was released") })
    #expect(record.isCleared)
    let run = try host.start("b")
    wait.release()
    #expect(await run.end().result == TASKHOST_RETRY)
  }

  @Test("leave no task behind")
  func released() async throws {
    let host = FakeHost()
    let left = WeakTask()
    let queue = DispatchQueue(label: "app")
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: queue) { task in
        left.task = task
        task.expirationHandler = { task.setTaskCompleted(success: false) }
        let continued = task as? BGContinuedProcessingTask
        continued?.progress.totalUnitCount = 5
        task.setTaskCompleted(success: true)
      }
    }
    for payload in Self.payloads.values {
      #expect(await (try host.start("a", payload: payload)).end().result == TASKHOST_SUCCESS)
      queue.sync {}  // what called the handler has ended too
      #expect(left.task == nil)
    }
  }

  @Test("use the host no more when they are over, whatever the app does with a task it has kept")
  func keptTask() async throws {
    let host = FakeHost()
    let kept = Box<BGTask?>(nil)
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        kept.value = task
        task.setTaskCompleted(success: true)
      }
    }
    let record = await (try host.start("a", payload: Self.payloads[.continued] ?? "")).end()
    let task = try #require(kept.value as? BGContinuedProcessingTask)
    task.setTaskCompleted(success: false)
    task.expirationHandler = {}
    task.updateTitle("late", subtitle: "")
    task.progress.totalUnitCount = 3
    task.progress.completedUnitCount = 2
    #expect(throws: BGTaskScheduler.Error.self) { try host.scheduler.submit(BGProcessingTaskRequest(identifier: "a")) }
    kept.value = nil
    #expect(record.result == TASKHOST_SUCCESS)
    #expect(host.lateCalls.isEmpty)
  }

  @Test("end though other threads are in a call to the host, and use the host no more then")
  func callsWhileEnding() async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        let continued = task as? BGContinuedProcessingTask
        for _ in 0..<2 {
          DispatchQueue.global().async {
            for count in 0..<200 { continued?.progress.completedUnitCount = Int64(count) }
          }
        }
        task.setTaskCompleted(success: true)
        task.setTaskCompleted(success: true)
      }
    }
    for _ in 0..<50 {
      let record = await (try host.start("a", payload: Self.payloads[.continued] ?? "")).end()
      #expect(record.result == TASKHOST_SUCCESS)
    }
    #expect(host.lateCalls.isEmpty)
  }

  @Test("of many identifiers at once, each on its queue, end each for itself")
  func manyAtOnce() async throws {
    let host = FakeHost()
    let identifiers = (0..<40).map { "many.\($0)" }
    let everyone = Box(0)
    let all = Event()
    host.launch { scheduler in
      for identifier in identifiers {
        scheduler.register(forTaskWithIdentifier: identifier, using: nil) { task in
          #expect(task.identifier == identifier)
          task.expirationHandler = { task.setTaskCompleted(success: false) }
          everyone.change { $0 += 1 }
          if everyone.value == identifiers.count { all.set() }
          Task.detached {
            await all.wait()
            task.setTaskCompleted(success: true)
          }
        }
      }
    }
    let runs = try identifiers.map { try host.start($0) }
    await all.wait()
    for run in runs.prefix(20) { run.expire(waits: false) }
    for (index, run) in runs.enumerated() {
      let record = await run.end()
      #expect(record.result == TASKHOST_SUCCESS || (index < 20 && record.result == TASKHOST_RETRY))
      #expect(record.isCleared)
    }
    #expect(host.lateCalls.isEmpty)
  }

  @Test("whose task nobody can complete any more are warned about at once")
  func abandoned() async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in }
    }
    let run = try host.start("a")
    await run.hasLogged.wait()
    run.expire()
    let record = await run.end()
    #expect(record.result == TASKHOST_RETRY)
    #expect(record.log.contains { $0.text.contains("without a call of setTaskCompleted") })
  }
}

/// What code for iOS declares to test its scheduling.
private protocol Registering {
  func register(forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void) -> Bool
}

extension BGTaskScheduler: Registering {}

/// An app of the main actor.
@MainActor
private final class MainActorApp {
  var count = 0

  func launch(_ scheduler: BGTaskScheduler) {
    scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
      self.handle(task)
    }
  }

  private func handle(_ task: BGTask) {
    MainActor.assertIsolated()
    count += 1
    task.setTaskCompleted(success: true)
  }
}

/// A task, as long as others hold it. `@unchecked Sendable`: the reference is written before the run ends and read afterwards.
private final class WeakTask: @unchecked Sendable {
  weak var task: BGTask?
}
