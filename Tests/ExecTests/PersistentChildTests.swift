import CTaskHost
import Glibc
import TaskHostSDK
import Testing

@testable import Exec

@Suite("A persistent child", .timeLimit(.minutes(1))) struct PersistentChildTests {
  private static let late = "{\"type\":\"result\",\"run\":1,\"result\":\"success\"}\n"
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)

  /// A child that writes what it reads.
  private func child() throws -> PersistentChild {
    let settings = try CommandSettings(json: "{\"identifier\":\"test\",\"run\":[\"/bin/cat\"],\"persistent\":true}")
    return try PersistentChild.start(settings, in: "/tmp") { _ in false }
  }

  /// Lets the child write a text, and waits until it has.
  private func write(_ text: String, _ child: PersistentChild) {
    #expect(Glibc.write(child.input, text, text.utf8.count) == text.utf8.count)
    var wait = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
    #expect(poll(&wait, 1, 10_000) == 1)
  }

  /// The lines that the run has with what the child has written.
  private func read(_ lines: inout PersistentChild.Lines, _ child: PersistentChild) -> [String] {
    var read: [String] = []
    _ = Pipe.drain(child.output, through: buffer, limit: 4096) { bytes in
      lines.output.take(bytes) { read.append(String(decoding: $0, as: UTF8.self)) }
    }
    return read
  }

  @Test("while a run has it, its keeper reads nothing of what it writes")
  func keeper() throws {
    let child = try child()
    defer {
      child.send(.end)
      buffer.deallocate()
    }
    var begin = child.beginRun(through: buffer)
    write("answer\n", child)
    // The keeper has seen that the child wrote something, and only now comes to read it.
    #expect(child.dropUnasked(through: buffer))
    #expect(read(&begin.lines, child) == ["answer"])
    child.endRun(begin.lines)
    write("late\n", child)
    #expect(child.dropUnasked(through: buffer))
    #expect(read(&begin.lines, child) == [])
  }

  @Test("what it wrote before a run belongs to none, also the rest of a line; a late result is told to the next run")
  func late() throws {
    let child = try child()
    defer {
      child.send(.end)
      buffer.deallocate()
    }
    let first = child.beginRun(through: buffer)
    #expect(first.number == 1 && first.strays.isEmpty)
    child.endRun(first.lines)
    write(String(repeating: Self.late, count: 5) + "text\nbegun before", child)
    var second = child.beginRun(through: buffer)
    #expect(second.number == 2)
    #expect(second.strays == Array(repeating: "a result for run 1, which was not live", count: 3), "no more than three are named")
    write(" and ended late\nanswer\n", child)
    #expect(read(&second.lines, child) == ["answer"])
  }
}
