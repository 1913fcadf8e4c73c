import StrictText
import Testing
import TransferOrders

@Suite("The report of a batch") struct TransferReportTests {
  private func batch(_ items: String...) throws -> TransferBatch {
    try TransferBatch(payload: Array("{\"items\": [\(items.joined(separator: ", "))]}".utf8))
  }

  private let first = #"{"url": "https://x/1", "to": "/a"}"#

  private func report(_ batch: TransferBatch) -> TransferReport {
    var report = TransferReport(of: batch, occurrence: nil, after: nil)
    for index in report.items.indices {
      (report.items[index].state, report.items[index].bytes) = (.done, 5)
    }
    return report
  }

  @Test(
    "after an update, what has not changed keeps its state, and what has changed begins again",
    arguments: [
      #"{"url": "https://x/2", "to": "/c"}"#, #"{"url": "https://x/3", "to": "/b"}"#, #"{"url": "https://x/2", "from": "/b"}"#,
      #"{"url": "https://x/2", "to": "/b", "sha256": "\#(String(repeating: "0", count: 64))"}"#,
    ])
  func updated(_ changed: String) throws {
    let earlier = report(try batch(first, #"{"url": "https://x/2", "to": "/b"}"#))
    let now = TransferReport(of: try batch(first, changed), occurrence: nil, after: earlier)
    #expect(now.items[0] == earlier.items[0])
    #expect(now.items[1].state == .waiting && now.items[1].bytes == nil && now.items[1].mark != earlier.items[1].mark)
  }

  @Test("another number of transfers, or another occurrence, begins again")
  func others() throws {
    let one = try batch(first)
    let earlier = report(one)
    #expect(TransferReport(of: one, occurrence: nil, after: earlier) == earlier)
    #expect(TransferReport(of: one, occurrence: "2026-01-01T00:00:00Z", after: earlier).count(.waiting) == 1)
    let two = try batch(first, #"{"url": "https://x/2", "to": "/b"}"#)
    #expect(TransferReport(of: two, occurrence: nil, after: earlier).count(.waiting) == 2)
  }

  @Test("a checkpoint of an earlier version, which has no marks, counts")
  func unmarked() throws {
    let one = try batch(first)
    var earlier = TransferReport(count: 1, occurrence: nil)
    earlier.items[0].state = .done
    #expect(TransferReport(of: one, occurrence: nil, after: earlier).items[0].state == .done)
  }
}
