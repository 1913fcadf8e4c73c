import BackgroundTasks
import CTaskHost
import Foundation
import TestSupport
import Testing

@testable import BackgroundTasks

@Suite("Continued tasks", .timeLimit(.minutes(10)))
struct ContinuedTaskTests {
  private static let payload = #"{"background_task":"continued","identifier":"w.1","subtitle":"s","title":"t"}"#

  /// Executes `body` as the launch handler of a continued task; gives what the run told the host.
  private func run(_ body: @escaping @Sendable (BGContinuedProcessingTask) -> Void) async throws -> FakeRun.Record {
    let host = FakeHost()
    host.launch(hints: ["w.*": .continued]) { _ in }
    host.scheduler.register(forTaskWithIdentifier: "w.1", using: nil) { task in
      guard let task = task as? BGContinuedProcessingTask else { return task.setTaskCompleted(success: false) }
      #expect(task.identifier == "w.1")
      body(task)
    }
    return await (try host.start("w", payload: Self.payload)).end()
  }

  @Test("have the titles they were asked for with, and show others when these change")
  func titles() async throws {
    let record = try await run { task in
      #expect(task.title == "t" && task.subtitle == "s")
      task.updateTitle("Export", subtitle: "1 of 2")
      #expect(task.title == "Export" && task.subtitle == "1 of 2")
      task.setTaskCompleted(success: true)
    }
    #expect(record.result == TASKHOST_SUCCESS)
    #expect(record.message == "Export: 1 of 2")
    #expect(record.log == [FakeLogLine(level: TASKHOST_INFO, text: "Export: 1 of 2")])
  }

  @Test("tell the host of each step of their progress")
  func progress() async throws {
    let record = try await run { task in
      let reporting: any ProgressReporting = task
      reporting.progress.totalUnitCount = 3
      for step in 1...3 { task.progress.completedUnitCount = Int64(step) }
      #expect(task.progress.isFinished)
      task.setTaskCompleted(success: true)
    }
    #expect(record.progress == [[0, 3], [1, 3], [2, 3], [3, 3]])
  }

  @Test("with children tell the whole, in parts of 10,000")
  func children() async throws {
    let record = try await run { task in
      task.progress.totalUnitCount = 4
      let child = Progress(totalUnitCount: 10)
      task.progress.addChild(child, withPendingUnitCount: 2)
      child.completedUnitCount = 5
      (task.progress as? ForwardedProgress)?.forward()
      child.completedUnitCount = 10
      task.progress.completedUnitCount += 1
      task.setTaskCompleted(success: true)
    }
    #expect(record.progress == [[0, 4], [0, 10_000], [2500, 10_000], [7500, 10_000]])
  }

  @Test("whose work makes itself the current progress tell of it when it resigns")
  func current() async throws {
    let record = try await run { task in
      task.progress.totalUnitCount = 2
      task.progress.becomeCurrent(withPendingUnitCount: 1)
      task.progress.resignCurrent()
      task.setTaskCompleted(success: true)
    }
    #expect(record.progress == [[0, 2], [1, 2]])
  }

  @Test(
    "that took too long are not tried again, but those that something else stopped",
    arguments: [
      (TASKHOST_STOP_STALLED, TASKHOST_FAILURE), (TASKHOST_STOP_BUDGET, TASKHOST_FAILURE), (TASKHOST_STOP_DRAINING, TASKHOST_RETRY),
      (TASKHOST_STOP_CONDITIONS, TASKHOST_RETRY),
    ])
  func expired(_ reason: Int, _ result: Int) async throws {
    for setsHandler in [true, false] {
      let (host, begun, kept) = (FakeHost(), Event(), Box<BGTask?>(nil))
      host.launch(hints: ["w.*": .continued]) { scheduler in
        scheduler.register(forTaskWithIdentifier: "w.1", using: nil) { task in
          if setsHandler { task.expirationHandler = { task.setTaskCompleted(success: false) } }
          kept.value = task
          begun.set()
        }
      }
      let run = try host.start("w", payload: Self.payload)
      await begun.wait()
      run.expire(reason)
      let record = await run.end()
      #expect(record.result == result)
      kept.value = nil
    }
  }

  @Test("take negative and overlong progress without harm, and progress after the end")
  func oddProgress() async throws {
    let kept = Box<Progress?>(nil)
    let record = try await run { task in
      kept.value = task.progress
      task.progress.totalUnitCount = -1
      task.progress.completedUnitCount = -5
      task.setTaskCompleted(success: true)
    }
    #expect(record.progress == [[0, 0], [0, 0]])
    kept.value?.completedUnitCount = 7
    #expect(kept.value?.completedUnitCount == 7)
  }
}
