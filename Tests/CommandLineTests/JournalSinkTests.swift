import Glibc
import Logging
import StoreTestSupport
import TestSupport
import Testing

@testable import taskhost

@Suite("The journal", .timeLimit(.minutes(2))) struct JournalSinkTests {
  @Test("an entry has the message, its priority, and fields by which journalctl finds a run; a line without fields is a message")
  func entries() throws {
    let directory = try TemporaryDirectory()
    let journal = try ManagerSocket(directory.file("journal"))
    let sink = try #require(JournalSink(path: journal.place))
    #expect(journal.next() == "")
    let fields = [("identifier", "a.b"), ("run", "01"), ("request", "02"), ("täg-1", "x")]
    let line = HostLog.line(.journal, .warning, "run expired: budget", fields)
    #expect(sink.write(Array((line + "\ntaskhost: no\n").utf8)).failure == nil)
    let entry = try #require(journal.next()).split(separator: "\n")
    #expect(entry.first == "MESSAGE=run expired: budget identifier=a.b run=01 request=02 täg-1=x")
    #expect(entry.contains("PRIORITY=4") && entry.contains("TASKHOST_RUN=01") && entry.contains("TASKHOST_REQUEST=02"), "\(entry)")
    #expect(entry.contains("TASKHOST_IDENTIFIER=a.b") && entry.contains("TASKHOST_T_G_1=x"), "\(entry)")
    #expect(journal.next() == "PRIORITY=3\nSYSLOG_IDENTIFIER=taskhost\nMESSAGE=taskhost: no\n")
  }

  @Test("a very long entry is cut, and a journal that has gone is an error of the log")
  func trouble() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("journal")
    var journal: ManagerSocket? = try ManagerSocket(path)
    let sink = try #require(JournalSink(path: path))
    #expect(journal?.next() == "")
    #expect(sink.write(Array(("MESSAGE=" + String(repeating: "x", count: 1 << 20) + "\n").utf8)).failure == nil)
    #expect(journal?.next() != nil)
    journal = nil
    // A child that another test starts at this moment may have inherited the socket, which would still take entries.
    unlink(path)
    let (written, failure) = sink.write(Array("MESSAGE=lost\n".utf8))
    #expect(written == 0 && failure == ENOENT)
    #expect(JournalSink(path: directory.file("none")) == nil)
  }

  @Test("it is only used where standard error leads")
  func elsewhere() throws {
    let directory = try TemporaryDirectory()
    let journal = try ManagerSocket(directory.file("journal"))
    for stream in [nil, "", "1:2", "x"] { #expect(JournalSink.behindStandardError(stream: stream, path: journal.place) == nil) }
    var info = stat()
    try #require(fstat(STDERR_FILENO, &info) == 0)
    #expect(JournalSink.behindStandardError(stream: "\(info.st_dev):\(info.st_ino)", path: journal.place) != nil)
  }
}
