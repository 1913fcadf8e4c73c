import CTaskHost
import Testing

@testable import TaskHostSDK

@Suite("Plugin entry", .timeLimit(.minutes(10)))
struct PluginEntryTests {
  /// A closure that was wrapped again by each access made the n-th run n calls deep, and overflowed the stack.
  @Test("the 300,000th run costs what the first does")
  func manyRuns() {
    let entry = PluginEntry()
    entry.install { taskhost_result(truncatingIfNeeded: $0 & 1) }
    var sum: taskhost_result = 0
    for task in 0..<taskhost_task(300_000) { sum += entry.run(task) }
    #expect(sum == 150_000)
  }

  @Test("the instance of the last launch serves; before any, a run fails")
  func install() {
    let entry = PluginEntry()
    #expect(entry.run(1) == taskhost_result(TASKHOST_FAILURE))
    entry.install { _ in 1 }
    entry.install { _ in 2 }
    #expect(entry.run(1) == 2)
  }
}
