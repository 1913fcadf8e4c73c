import Foundation
import TaskModel
import Testing

@Suite("Documentation/states.md") struct StatesTests {
  @Test("is what the function of transitions says")
  func isTheFunction() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let file = package.appending(path: "Documentation/states.md")
    let table = TransitionTable.markdown
    if ProcessInfo.processInfo.environment["TASKHOST_WRITE_STATES"] == "1" { try table.write(to: file, atomically: true, encoding: .utf8) }
    let written = try String(contentsOf: file, encoding: .utf8)
    #expect(written == table, "the transitions have changed: run make states and read the difference")
  }

  @Test("has a row for each transition, and names every other pair as an error")
  func hasAll() {
    let rows = TransitionTable.markdown.split(separator: "\n").filter { $0.hasPrefix("| `") }
    // Guards split seven of them.
    let legal = RequestState.allCases.reduce(0) { count, state in
      count + TransitionTable.events.count { (try? state.transition(on: $0, guards: RequestGuards())) != nil }
    }
    #expect(legal == 23)
    #expect(rows.count == legal + 3 + 4 * 2 + RequestState.allCases.count)
  }
}
