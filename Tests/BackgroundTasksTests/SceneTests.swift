import TestSupport
import BackgroundTasks
import CTaskHost
import Foundation
import Testing

@testable import BackgroundTasks

@Suite("Scenes", .timeLimit(.minutes(10)))
struct SceneTests {
  @Test("register an app refresh for each task; returning is completion")
  func returns() async throws {
    let host = FakeHost()
    let served = Box<[String]>([])
    let status = host.launch(
      PluginScene()
        .backgroundTask(.appRefresh("a")) {
          await Task.yield()
          served.change { $0.append("a") }
        }
        .backgroundTask(.appRefresh("b")) { served.change { $0.append("b") } })
    #expect(status == TASKHOST_OK)
    #expect(host.registered.map(\.identifier) == ["a", "b"])
    #expect(host.registered.map(\.kind) == [TASKHOST_REFRESH, TASKHOST_REFRESH])
    for identifier in ["b", "a"] { #expect(await (try host.start(identifier)).end().result == TASKHOST_SUCCESS) }
    #expect(served.value == ["b", "a"])
  }

  /// As in SwiftUI.
  private struct FeedApp: App {
    struct ContentView {
      init() { Issue.record("a plugin opens no window") }
    }

    struct Inner: BackgroundTasks.Scene {
      var body: some BackgroundTasks.Scene { WindowGroup { ContentView() }.backgroundTask(.appRefresh("inner")) {} }
    }

    var body: some BackgroundTasks.Scene {
      WindowGroup { ContentView() }
        .backgroundTask(.appRefresh("first")) {}
        .backgroundTask(.appRefresh("second")) {}
      Inner()
    }
  }

  @Test("an app's scenes register their tasks, nested ones too")
  func app() async throws {
    let host = FakeHost()
    #expect(host.launch(FeedApp.self) == TASKHOST_OK)
    #expect(host.registered.map(\.identifier) == ["first", "second", "inner"])
    #expect(host.registered.allSatisfy { $0.kind == TASKHOST_REFRESH })
    #expect(await (try host.start("inner")).end().result == TASKHOST_SUCCESS)
  }

  @Test("running out of time is cancellation of the action and its children, and a retry")
  func cancelled() async throws {
    let host = FakeHost()
    let begun = Event()
    host.launch(
      PluginScene().backgroundTask(.appRefresh("a")) {
        await withTaskGroup { group in
          group.addTask { try? await Task.sleep(for: .seconds(3600)) }
          begun.set()
        }
        #expect(Task.isCancelled)
      })
    let run = try host.start("a")
    await begun.wait()
    run.expire()
    #expect(await run.end().result == TASKHOST_RETRY)
  }

  @Test("an action may submit the next request")
  func submits() async throws {
    let host = FakeHost()
    let scheduler = host.scheduler
    host.launch(
      PluginScene().backgroundTask(.appRefresh("a")) {
        #expect(throws: Never.self) { try scheduler.submit(BGAppRefreshTaskRequest(identifier: "a")) }
      })
    #expect(await (try host.start("a")).end().result == TASKHOST_SUCCESS)
    #expect(await (try host.startPending("a")).end().result == TASKHOST_SUCCESS)
    #expect(host.pending.count == 1)
  }

  @Test("racing with expiration, over many runs: each ends")
  func race() async throws {
    let host = FakeHost()
    host.launch(PluginScene().backgroundTask(.appRefresh("a")) { await Task.yield() })
    for _ in 0..<200 {
      let run = try host.start("a")
      run.expire(waits: false)
      let record = await run.end()
      #expect(record.result == TASKHOST_SUCCESS || record.result == TASKHOST_RETRY)
      #expect(record.isCleared)
    }
  }
}
