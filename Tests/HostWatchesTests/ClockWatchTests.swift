import TestSupport
import Foundation
import HostThreads
import HostWatches
import Testing

@Suite("The calendar's watch")
struct ClockWatchTests {
  /// A calendar that the test sets, for a process that the two libraries are preloaded into.
  private struct Calendar {
    let directory: TestDirectory

    init() throws {
      directory = try TestDirectory()
      let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/Plugins")
      for name in ["clock_shift", "clock_set"] {
        let source = fixtures.appending(path: "\(name).c").path
        let status = Program.status(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", directory(name), source])
        guard status == 0 else { throw TestFailure("cc \(source): \(status)") }
      }
      try Data(count: 8).write(to: URL(filePath: directory("calendar")))
      guard mkfifo(directory("set"), 0o600) == 0 else { throw TestFailure("mkfifo: \(String(cString: strerror(errno)))") }
    }

    var environment: [String: String] {
      [
        "LD_PRELOAD": "\(directory("clock_shift")):\(directory("clock_set"))", "TASKHOST_TEST_CLOCK": directory("calendar"),
        "TASKHOST_TEST_CLOCK_SET": directory("set"),
      ]
    }

    /// Sets it to so many seconds ahead of the real one.
    func set(_ seconds: Int64) throws {
      let shift = FileHandle(forWritingAtPath: directory("calendar"))
      try shift?.write(contentsOf: withUnsafeBytes(of: seconds * 1_000_000_000) { Data($0) })
      try shift?.close()
      // For reading too, so that opening it waits for nobody.
      let set = open(directory("set"), O_RDWR | O_NONBLOCK | O_CLOEXEC)
      defer { close(set) }
      guard write(set, "!", 1) == 1 else { throw TestFailure("nothing can be written to the FIFO: \(String(cString: strerror(errno)))") }
    }
  }

  @Test("each time the calendar is set is told, and by how much can be read then")
  func set() throws {
    let calendar = try Calendar()
    let probe = try Probe(["clock"], environment: calendar.environment)
    for seconds: Int64 in [86_400, -86_400, 3, 0, 3600 * 24 * 365] {
      try calendar.set(seconds)
      let moved = try probe.line().split(separator: " ").last.flatMap { Int64($0) }
      // A millisecond may be of the measuring, and the seconds are cut.
      #expect(moved.map { abs($0 - seconds) <= 1 } == true, "set to \(seconds), told \(moved ?? -1)")
    }
    #expect(try probe.finish() == 0)
  }

  @Test(
    "its thread waits in the kernel, without a limit of time",
    .enabled(if: FileManager.default.isReadableFile(atPath: "/proc/self/syscall")))
  func idle() throws {
    for subject in ["clock", "files"] {
      let probe = try Probe([subject])
      let words = try probe.ask("waits").split(separator: " ")
      #if arch(x86_64)
        // poll(descriptors, 2, -1)
        try #require(words.count > 3, "\(words)")
        #expect((words[0], words[2], words[3]) == ("7", "0x2", "0xffffffff"))
      #elseif arch(arm64)
        // ppoll(descriptors, 2, NULL)
        try #require(words.count > 3, "\(words)")
        #expect((words[0], words[2], words[3]) == ("73", "0x2", "0x0"))
      #endif
      #expect(try probe.finish() == 0)
    }
  }

  @Test("it is stopped at once, twice, and without being told to; nothing is told before the calendar is set")
  func stopped() throws {
    for _ in 0..<50 {
      let watch = try ClockWatch {
        Issue.record("nobody set the calendar")
      } failed: {
        Issue.record("\($0)")
      }
      watch.stop()
      watch.stop()
      _ = try ClockWatch(changed: {}, failed: { Issue.record("\($0)") })
    }
  }

  @Test("a process without descriptors is told so, and nothing is left behind")
  func withoutDescriptors() throws {
    let (lines, status) = try LineProgram([try BuiltProgram.path("watch-probe"), "no-descriptors"]).end()
    #expect(status == 0)
    #expect(lines.map { String($0.prefix(6)) } == ["clock ", "files "], "\(lines)")
    #expect(lines.allSatisfy { $0.contains("limit of open files") }, "\(lines)")
  }
}

@Suite("The offset of the calendar")
struct ClockOffsetTests {
  @Test("it stays the same, to a millisecond or two, while nobody sets the calendar")
  func steady() throws {
    let first = ClockOffset.now()
    #expect(!first.bootID.isEmpty)
    for _ in 0..<100 {
      let moved = try #require(ClockOffset.now().moved(since: first))
      #expect(moved.magnitude <= .milliseconds(20), "\(moved)")
    }
  }

  @Test("how far the calendar was moved is known within one start of the machine")
  func moved() throws {
    let directory = try TestDirectory()
    try directory.write("one", "6c26c1ab\n")
    try directory.write("two", "77777777\n")
    let first = ClockOffset(wallLessBoot: .seconds(1000), bootID: "6c26c1ab")
    #expect(ClockOffset(wallLessBoot: .seconds(900), bootID: "6c26c1ab").moved(since: first) == .seconds(-100))
    #expect(ClockOffset.now(bootIDFile: directory("one")).bootID == "6c26c1ab")
    #expect(ClockOffset.now(bootIDFile: directory("one")).moved(since: first) != nil)
    #expect(ClockOffset.now(bootIDFile: directory("two")).moved(since: first) == nil)
    let unknown = ClockOffset.now(bootIDFile: directory("missing"))
    #expect(unknown.bootID == "")
    #expect(unknown.moved(since: unknown) == nil)
  }
}

extension Duration {
  fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
