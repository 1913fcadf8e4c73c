import BackgroundTasks
import CTaskHost
import Foundation
import Synchronization
import Testing

@testable import BackgroundTasks

@Suite("Registration", .timeLimit(.minutes(10)))
struct RegistrationTests {
  @Test("during launch registers with the host, as processing where the kind is not given, as given where it is")
  func kinds() {
    let host = FakeHost()
    let hints: [String: BackgroundTasksPlugin.Kind] = ["b": .refresh, "c": .healthResearch, "d": .continued, "e.*": .continued]
    let status = host.launch(hints: hints) { scheduler in
      for identifier in ["a", "b", "c", "d"] {
        #expect(scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in })
      }
    }
    #expect(status == TASKHOST_OK)
    #expect(host.registered.map(\.identifier) == ["a", "b", "c", "d", "e"])
    #expect(
      host.registered.map(\.kind)
        == [TASKHOST_PROCESSING, TASKHOST_REFRESH, TASKHOST_PROCESSING, TASKHOST_CONTINUED, TASKHOST_CONTINUED])
    #expect(host.registered.map(\.maxConcurrentRuns) == [1, 1, 1, 1, 8])
  }

  @Test("tells the plugin its folder")
  func dataDirectory() {
    let host = FakeHost()
    host.launch { scheduler in
      #expect(scheduler.core.state.withLock { $0.dataDirectory } == nil)
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in }
      #expect(scheduler.core.state.withLock { $0.dataDirectory } == "/data")
    }
  }

  @Test("a second one of an identifier is false, an error line, and never reaches the host")
  func twice() {
    let host = FakeHost()
    host.launch { scheduler in
      #expect(scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in })
      #expect(!scheduler.register(forTaskWithIdentifier: "a", using: nil) { _ in })
      #expect(scheduler.register(forTaskWithIdentifier: "w.*", using: nil) { _ in })
      #expect(!scheduler.register(forTaskWithIdentifier: "w.*", using: nil) { _ in })
    }
    #expect(host.registered.map(\.identifier) == ["a", "w"])
    #expect(host.log.map(\.level) == [TASKHOST_ERROR, TASKHOST_ERROR])
    #expect(host.log.first?.text.contains("it has one already") == true)
  }

  @Test("of an identifier that the host does not permit is false, with the host's sentence")
  func notPermitted() {
    let host = FakeHost()
    host.launch { #expect(!$0.register(forTaskWithIdentifier: "forbidden", using: nil) { _ in }) }
    #expect(host.registered.isEmpty)
    #expect(host.log.first?.text.contains("the fake host says no") == true)
  }

  @Test("after the launch is false, with an error line in the log of a live run")
  func late() async throws {
    let host = FakeHost()
    host.launch { scheduler in
      scheduler.register(forTaskWithIdentifier: "a", using: nil) { task in
        #expect(!scheduler.register(forTaskWithIdentifier: "b", using: nil) { _ in })
        task.setTaskCompleted(success: true)
      }
    }
    let record = await (try host.start("a")).end()
    #expect(record.log.map(\.level) == [TASKHOST_ERROR])
    #expect(record.log.first?.text.contains("the launch is over") == true)
    #expect(host.registered.map(\.identifier) == ["a"])
  }

  @Test("under a wildcard is possible at any time, once for each identifier")
  func underWildcard() {
    let host = FakeHost()
    host.launch(hints: ["w.*": .continued]) { scheduler in
      #expect(scheduler.register(forTaskWithIdentifier: "w.early", using: nil) { _ in })
    }
    #expect(host.scheduler.register(forTaskWithIdentifier: "w.late", using: .main) { _ in })
    #expect(!host.scheduler.register(forTaskWithIdentifier: "w.late", using: .main) { _ in })
    #expect(!host.scheduler.register(forTaskWithIdentifier: "w.", using: nil) { _ in })
    #expect(!host.scheduler.register(forTaskWithIdentifier: "wx", using: nil) { _ in })
    #expect(host.registered.map(\.identifier) == ["w"])
  }

  @Test("an identifier whose kind is given is its own, though a wildcard covers it")
  func ownKind() {
    let host = FakeHost()
    host.launch(hints: ["w.*": .continued, "w.refresh": .refresh]) { scheduler in
      #expect(scheduler.register(forTaskWithIdentifier: "w.refresh", using: nil) { _ in })
    }
    #expect(host.registered.map(\.identifier) == ["w.refresh", "w"])
    #expect(host.registered.map(\.kind) == [TASKHOST_REFRESH, TASKHOST_CONTINUED])
  }

  @Test("from many threads at once reaches the host once")
  func race() async {
    let host = FakeHost()
    let accepted = Box(0)
    host.launch { scheduler in
      DispatchQueue.concurrentPerform(iterations: 16) { _ in
        if scheduler.register(forTaskWithIdentifier: "a", using: nil, launchHandler: { _ in }) { accepted.change { $0 += 1 } }
      }
    }
    #expect(accepted.value == 1)
    #expect(host.registered.count == 1)
  }

  @Test("a launch that comes again registers the same, with the same context")
  func again() throws {
    let host = FakeHost()
    for _ in 0..<2 {
      host.launch { #expect($0.register(forTaskWithIdentifier: "a", using: nil) { _ in }) }
    }
    #expect(host.registered.map(\.identifier) == ["a", "a"])
    #expect(host.registered.first?.context == host.registered.last?.context)
  }

  @Test("a kind that is given for what nobody registers is a warning")
  func unusedKind() {
    let host = FakeHost()
    host.launch(hints: ["b": .refresh]) { $0.register(forTaskWithIdentifier: "a", using: nil) { _ in } }
    #expect(host.log.map(\.level) == [TASKHOST_WARNING])
  }

  @Test("a host without a table or too old is refused")
  func refused() {
    let core = SchedulerCore()
    #expect(core.launch(nil, 1, hints: [:]) {} == taskhost_status(TASKHOST_EINVAL))
    let old = FakeHost { $0.struct_size = 100 }
    #expect(old.launch { _ in } == TASKHOST_EUNSUPPORTED)
    let older = FakeHost { $0.abi_version = 0 }
    #expect(older.launch { _ in } == TASKHOST_EUNSUPPORTED)
  }

  @Test("a plugin may have 64 handlers")
  func limit() {
    #expect(taskhost_plugin_handler_limit == 64)
  }

  @Test("what an app does on the main actor at its launch is done, on the main queue and off it")
  func mainActor() async {
    let calls = await MainActor.run { MainActorCounter() }
    await MainActor.run { BackgroundTasksPlugin.callOnMainActor { calls.count += 1 } }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        BackgroundTasksPlugin.callOnMainActor { calls.count += 1 }
        continuation.resume()
      }
    }
    #expect(await calls.count == 2)
  }

  @MainActor private final class MainActorCounter {
    var count = 0
  }
}
