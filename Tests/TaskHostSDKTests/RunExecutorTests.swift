import Foundation
import Testing

@testable import TaskHostSDK

@Suite("Run executor", .timeLimit(.minutes(10)))
struct RunExecutorTests {
  @Test("jobs that come after the run, or are left in its queue, run on the global executor")
  func lateJobs() async {
    let executor = RunExecutor()
    let left = Task(executorPreference: executor) { Thread.isMainThread }
    executor.finish(RunVerdict(result: .noop, message: nil))
    #expect(executor.drain().result == .noop)
    let late = Task(executorPreference: executor) {
      await Task.yield()
      return 7
    }
    #expect(await left.value == false)
    #expect(await late.value == 7)
  }

  @Test("is freed with its last task", arguments: [0, 1, 3])
  func freed(suspensions: Int) async {
    weak var freed: RunExecutor?
    do {
      let executor = RunExecutor()
      freed = executor
      let work = Task(executorPreference: executor) {
        for _ in 0..<suspensions { await Task.yield() }
        executor.finish(RunVerdict(result: .success, message: nil))
      }
      #expect(executor.drain().result == .success)
      await work.value
    }
    #expect(freed == nil)
  }

  @Test("a finish from another thread wakes the drain")
  func finishElsewhere() {
    let executor = RunExecutor()
    Thread.detachNewThread { executor.finish(RunVerdict(result: .failure, message: "elsewhere")) }
    #expect(executor.drain().message == "elsewhere")
  }
}
