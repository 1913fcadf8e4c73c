import TaskModel
import Testing

@testable import TaskHost

@Suite("Fleet stream")
struct FleetStreamTests {
  private func log(_ numbers: ClosedRange<Int>) -> [LogLine] {
    numbers.map { LogLine(time: WallTime(unixMilliseconds: Int64($0)), level: .info, message: "line \($0)") }
  }

  @Test("the new lines of a log are those after what was seen, whichever of the two goes back further")
  func newLines() {
    #expect(Array(log(1...5).lines(after: log(1...3))) == log(4...5))
    #expect(Array(log(3...7).lines(after: log(1...5))) == log(6...7))
    #expect(Array(log(1...7).lines(after: log(4...5))) == log(6...7))
    #expect(log(1...3).lines(after: log(1...3)).isEmpty)
    #expect(Array(log(8...9).lines(after: log(1...3))) == log(8...9), "those between were never shown")
    #expect(Array(log(1...2).lines(after: [])) == log(1...2))
  }
}
