import Foundation
import Glibc
import TestSupport
import TaskModel
import Testing

@testable import taskhost

@Suite("Lines of the log that wait") struct LogBacklogTests {
  private static func backlog(_ capacity: Int) -> LogBacklog { LogBacklog(capacity: capacity) { Array("<\($0)>\n".utf8) } }
  private func take(_ backlog: inout LogBacklog) -> String? { Self.text(backlog.take()) }
  private static func text(_ batch: LogBacklog.Batch?) -> String? { batch.map { String(decoding: $0.bytes, as: UTF8.self) } }

  @Test("what does not fit is dropped, and a line behind the others says how much")
  func full() {
    var backlog = Self.backlog(10)
    for line in ["aaaa\n", "bbbb\n", "cccc\n", "d\n"] { backlog.append(Array(line.utf8)) }
    #expect(backlog.untold == 2 && backlog.dropped == 2)
    #expect(take(&backlog) == "aaaa\nbbbb\n<2>\n")
    #expect(backlog.untold == 0 && backlog.dropped == 2 && backlog.isEmpty)
    #expect(take(&backlog) == nil)
  }

  @Test("a line that fits again comes behind the line that says what is missing before it, or is missing too")
  func order() {
    var backlog = Self.backlog(12)
    for line in ["aaaaaaa\n", "bbbbbbb\n", "c\n"] { backlog.append(Array(line.utf8)) }
    #expect(take(&backlog) == "aaaaaaa\n<2>\n")
    backlog.append(Array("0123456789012\n".utf8))
    #expect(take(&backlog) == nil)
    backlog.append(Array("d\n".utf8))
    #expect(take(&backlog) == "<1>\nd\n")
  }

  @Test("lines that could not be written are counted, the one that was begun too, and what a lost note spoke of")
  func lost() throws {
    var backlog = Self.backlog(10)
    for line in ["aaaa\n", "bbbb\n", "cccc\n"] { backlog.append(Array(line.utf8)) }
    let taken = backlog.take()
    let batch = try #require(taken)
    #expect(Self.text(batch) == "aaaa\nbbbb\n<1>\n")
    backlog.lose(batch, after: 7)
    #expect(backlog.untold == 2 && backlog.dropped == 2)
    backlog.append(Array("d\n".utf8))
    #expect(take(&backlog) == "<2>\nd\n")
    backlog.lose(batch, after: 99)
    backlog.lose(batch, after: -1)
    #expect(backlog.untold == 3 && backlog.dropped == 4)
  }
}

@Suite("The log's thread", .timeLimit(.minutes(2))) struct LogWriterTests {
  private static func writer(_ descriptor: Int32) throws -> LogWriter {
    try LogWriter(DescriptorSink(descriptor: descriptor)) { Array("\($0) lines were dropped\n".utf8) }
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw TestFailure("pipe: errno \(errno)") }
    return (ends[0], ends[1])
  }

  @Test("nobody waits for a reader that does not read; afterwards every line is there as a whole, or counted")
  func stopped() async throws {
    let (reading, writing) = try Self.pipe()
    let writer = try Self.writer(writing)
    let count = 40_000
    // A pipe takes 64 KiB, the writer two mebibytes at most: this is four.
    for number in 0..<count { writer.write("\(number) " + String(repeating: "x", count: 100)) }
    #expect(writer.dropped > 0)
    #expect(writer.problem?.text.contains("nobody reads the log") == true)
    let start = ContinuousClock.now
    writer.flush(within: .milliseconds(50))
    #expect(ContinuousClock.now - start < .seconds(5))
    #expect(fcntl(writing, F_GETFL) & O_NONBLOCK == 0, "the description may be shared")
    let text = try await onThread {
      var text = ""
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while !text.hasSuffix("\nthe end\n") {
        let size = read(reading, &buffer, buffer.count)
        guard size > 0 else { throw TestFailure("read: errno \(errno)") }
        text += String(decoding: buffer[..<size], as: UTF8.self)
        // Once there is room again: a last line.
        if text.hasSuffix("lines were dropped\n") { writer.write("the end") }
      }
      return text
    }
    let lines = text.split(separator: "\n")
    let told = lines.reduce(0) { sum, line in
      line.hasSuffix(" lines were dropped") ? sum + (Int(line.prefix { $0 != " " }) ?? 0) : sum + (line.hasSuffix("x") ? 1 : 0)
    }
    #expect(told == count)
    #expect(lines.allSatisfy { $0 == "the end" || $0.hasSuffix(" lines were dropped") || $0.utf8.count > 101 })
    #expect(writer.problem == nil)
    close(reading)
  }

  @Test("a disk that is full, and a pipe that is closed, cost lines, no thread and no time")
  func failing() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    let writer = try Self.writer(full)
    for _ in 0..<10 { writer.write("a line") }
    writer.flush(within: .seconds(30))
    #expect(writer.dropped == 10)
    #expect(writer.problem?.text.contains("No space left on device") == true)

    let (reading, writing) = try Self.pipe()
    close(reading)
    let closed = try Self.writer(writing)
    closed.write("a line")
    closed.flush(within: .seconds(30))
    #expect(closed.dropped == 1)
    #expect(closed.problem?.text.contains("Broken pipe") == true)
  }
}
