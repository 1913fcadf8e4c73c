import Testing

@testable import TaskHostClient
@testable import taskhost

@Suite("The progress of a run on a terminal") struct ProgressBarTests {
  private func progress(_ completed: UInt64, of total: UInt64, _ unit: String? = nil, _ message: String? = nil) -> ProgressAnswer {
    ProgressAnswer(completed: ProgressAnswer.Count(completed), total: ProgressAnswer.Count(total), unit: unit, message: message)
  }

  /// A bar after one report a second.
  private func bar(_ reports: [ProgressAnswer]) -> ProgressBar {
    var bar = ProgressBar()
    for (second, report) in reports.enumerated() { bar.take(report, at: Double(second)) }
    return bar
  }

  @Test("bar, share, amount and message are one line, and a narrow terminal leaves out the bar and cuts the rest")
  func line() {
    let bar = bar([progress(3, of: 10, "files", "copying a")])
    #expect(bar.line(columns: 79, at: 0) == "running [=========>                    ] 30 %, 3 of 10 files: copying a")
    #expect(bar.line(columns: 40, at: 0) == "running [==>      ] 30 %, 3 of 10 fil...")
    #expect(bar.line(columns: 30, at: 0) == "running: 30 %, 3 of 10 file...")
    for columns in 0...100 { #expect(bar.line(columns: columns, at: 0).count <= columns) }
  }

  @Test("without a total there is no bar; bytes are shown as sizes; control characters are escaped")
  func amounts() {
    #expect(bar([progress(7, of: 0)]).line(columns: 79, at: 0) == "running: 7")
    #expect(bar([progress(2048, of: 0, "bytes")]).line(columns: 79, at: 0) == "running: 2 KiB")
    #expect(WorkText.words(progress(1024, of: 4096, "bytes")) == "1 KiB of 4 KiB, 25 %")
    #expect(bar([progress(.max, of: .max)]).line(columns: 200, at: 0).contains(" 100 %"))
    #expect(bar([progress(0, of: 0, "\u{1B}[2J", "a\nb")]).line(columns: 79, at: 0) == "running: 0 \\u{1b}[2J: a\\nb")
  }

  @Test("wide characters never make the line wrap")
  func wide() {
    let bar = bar([progress(1, of: 2, "件", String(repeating: "写", count: 100))])
    for columns in 3...100 {
      let line = bar.line(columns: columns, at: 0)
      #expect(line.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } <= columns)
    }
  }

  @Test("the rest is foretold from a steady rate only")
  func rest() {
    let steady = (0...10).map { progress($0 * 10, of: 1000) }
    #expect(bar(steady).line(columns: 100, at: 10).contains(", about 1m 30s left"))
    #expect(!bar(Array(steady.prefix(4))).line(columns: 100, at: 3).contains("left"), "too early")
    #expect(!bar(steady).line(columns: 100, at: 60).contains("left"), "it has paused for long")
    let slowing = [0, 100, 200, 300, 400, 410, 415, 416, 417, 418, 419].map { progress($0, of: 1000) }
    #expect(!bar(slowing).line(columns: 100, at: 10).contains("left"), "its rate changes")
    #expect(!bar((0...10).map { progress($0, of: 0) }).line(columns: 100, at: 10).contains("left"), "no total")
    // Another total is another piece of work.
    #expect(!bar(steady + [progress(1, of: 50)]).line(columns: 100, at: 11).contains("left"))
  }

  @Test("work in words leaves out what is zero")
  func work() {
    func words(_ counts: [UInt64]) -> String {
      let counts = counts.map { ProgressAnswer.Count($0) }
      return WorkText.words(
        WorkAnswer(itemsAttempted: counts[0], itemsCompleted: counts[1], itemsFailed: counts[2], bytesIn: counts[3], bytesOut: counts[4]))
    }
    #expect(words([0, 0, 0, 0, 0]) == "nothing")
    #expect(words([.max, .max - 1, 0, .max, 0]) == "18446744073709551614 of 18446744073709551615 items, 16 EiB in")
    #expect(words([1, 1, 0, 0, 0]) == "1 item")
    #expect(words([10, 9, 1, 2048, 1]) == "9 of 10 items, 1 failed, 2 KiB in, 1 B out")
    #expect(words([0, 0, 0, 0, .max]) == "16 EiB out")
  }
}
