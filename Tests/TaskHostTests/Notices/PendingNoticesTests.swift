import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost

@Suite("Notices that wait") struct PendingNoticesTests {
  private let identifier = TaskIdentifier.sample()

  private func progress(_ run: Int64, _ completed: UInt64) -> Notice {
    var notice = Notice(event: .continued, identifier: identifier)
    notice.run = RunID(sequence: run, origin: 1)
    notice.progress = RunProgress(completed: completed, total: 10)
    return notice
  }

  private func end(_ run: Int64) -> Notice {
    var notice = progress(run, 10)
    notice.outcome = .succeeded
    return notice
  }

  private func moment(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

  @Test("the first is told at once; of what comes within a second, the newest, once the second is over")
  func rate() {
    var pending = PendingNotices()
    #expect(pending.next(at: moment(0)) == .nothing)
    pending.add(progress(1, 1))
    #expect(pending.next(at: moment(0)) == .tell(progress(1, 1)))
    for completed in 2...5 { pending.add(progress(1, UInt64(completed))) }
    #expect(pending.next(at: moment(1)) == .wait(until: moment(1000)))
    #expect(pending.next(at: moment(999)) == .wait(until: moment(1000)))
    #expect(pending.next(at: moment(1000)) == .tell(progress(1, 5)))
    #expect(pending.next(at: moment(1000)) == .nothing)
    #expect(pending.dropped == 0)
  }

  @Test("runs do not wait for each other, and the end replaces progress that was not told")
  func others() {
    var pending = PendingNotices()
    pending.add(progress(1, 1))
    pending.add(progress(2, 1))
    #expect(pending.next(at: moment(0)) == .tell(progress(1, 1)))
    #expect(pending.next(at: moment(0)) == .tell(progress(2, 1)))
    pending.add(progress(1, 2))
    pending.add(end(1))
    #expect(pending.next(at: moment(500)) == .wait(until: moment(1000)))
    #expect(pending.next(at: moment(1000)) == .tell(end(1)))
  }

  @Test("a slow command costs progress first, then the oldest end; memory is bounded")
  func bounded() {
    var pending = PendingNotices()
    for run in 0..<Int64(PendingNotices.most) { pending.add(progress(run, 1)) }
    for run in 0..<3 { pending.add(end(1000 + Int64(run))) }
    #expect(pending.dropped == 3)
    #expect(pending.next(at: moment(0)) == .tell(progress(3, 1)))
    for run in 0..<Int64(10 * PendingNotices.most) { pending.add(end(2000 + run)) }
    pending.add(progress(1, 1))
    var ends = 0
    while case .tell(let notice) = pending.next(at: moment(1)) { ends += notice.isFinal ? 1 : 0 }
    #expect(ends == PendingNotices.most)
  }

  @Test("a notice says in words, variables and JSON what it is about, and escapes what a plugin said")
  func words() {
    var notice = progress(1, 3)
    notice.progress?.unit = "files"
    notice.progress?.message = "copying \u{1B}[2J"
    #expect(notice.text == "3 of 10 files: copying \\u{1b}[2J")
    #expect(notice.percent == 30)
    #expect(notice.environment.contains("TASKHOST_PERCENT=30") && notice.environment.contains("TASKHOST_EVENT=continued"))
    #expect(!notice.environment.contains { $0.hasPrefix("TASKHOST_OUTCOME") })
    #expect(String(decoding: notice.json, as: UTF8.self).hasPrefix("{\"event\":\"continued\","))
    #expect(end(1).text == "succeeded")
    notice.progress = RunProgress(completed: 2048, total: .max, unit: "bytes")
    #expect(notice.text.hasPrefix("2 KiB of "))
  }
}
