import Foundation
import HostThreads
import HostWatches
import Testing

@Suite("The life of watches")
struct WatchLifeTests {
  let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  @Test("once they are stopped, nothing is told, and that is said of every path")
  func stopped() throws {
    let told = try Told()
    let path = directory("file")
    #expect(told.watches.watch([path]) == [:])
    told.watches.stop()
    told.watches.stop()
    try directory.write("file")
    #expect(told.take() == [])
    #expect(told.watches.problems.keys.sorted() == [path])
    #expect(told.watches.watch([path, "/other"]).values.allSatisfy { $0.contains("stopped") })
  }

  @Test("they are stopped, and the set is replaced, in a call of theirs")
  func reentered() throws {
    let watches = Guarded<FileWatches?>(nil)
    let (first, second) = (directory("first"), directory("second"))
    let told = try Told { path in
      let watches = watches.withLock { $0 }
      if path == first { watches?.watch([second]) } else { watches?.stop() }
    }
    watches.withLock { $0 = told.watches }
    #expect(told.watches.watch([first]) == [:])
    try directory.write("first")
    #expect(told.wait { $0.contains(first) })
    try directory.write("second")
    #expect(told.wait { $0.contains(second) })
    told.watches.stop()
    #expect(told.watches.problems.keys.sorted() == [second])
    watches.withLock { $0 = nil }
  }

  @Test("stopping waits for a call that is going on")
  func stopWaits() throws {
    let gate = Gate()
    let told = try Told { _ in gate.wait() }
    told.watches.watch([directory("file")])
    try directory.write("file")
    gate.arrived()
    let isStopped = Guarded(false)
    let done = Gate()
    try HostThread.start("stopper") {
      told.watches.stop()
      isStopped.withLock { $0 = true }
      done.wait()
    }
    #expect(isStopped.withLock { $0 } == false)
    gate.open()
    done.arrived()
    #expect(isStopped.withLock { $0 })
    done.open()
    #expect(told.take().count >= 1)
  }

  @Test(
    "a path that cannot be watched is a problem that says why",
    arguments: [
      ("relative/path", "begin it with /"), ("", "begin it with /"), ("/a\0b", "zero byte"),
      ("/" + String(repeating: "x/", count: 2100), "longer than"), ("/" + String(repeating: "n", count: 300), "name too long"),
    ])
  func refused(_ path: String, _ words: String) throws {
    let told = try Told()
    let good = directory("file")
    let problems = told.watches.watch([path, good])
    #expect(problems.keys.sorted() == [path])
    #expect(problems[path]?.lowercased().contains(words) == true, "\(problems)")
    try directory.write("file")
    told.expect(good)
  }

  @Test("when the kernel's queue overflows, every path is told, and watching goes on")
  func overflow() throws {
    try directory.make("busy")
    let paths = Set(["busy", "late", "quiet", "deep/missing/file"].map { directory($0) })
    try directory.write("late")
    let gate = Gate()
    let told = try Told { path in if path.hasSuffix("quiet") { gate.wait() } }
    #expect(told.watches.watch(paths) == [:])
    try directory.write("quiet")
    gate.arrived()
    // While the watches' thread is held: three events a file, more than the queue takes.
    let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
    for index in 0...count / 2 { try directory.write("busy/\(index)") }
    _ = told.take()
    // Comes after the queue is full: it is lost, and noticed all the same.
    try directory.write("late", "more")
    try directory.make("deep/missing")
    try directory.write("deep/missing/file")
    gate.open()
    #expect(told.wait { Set($0) == paths }, "\(told.take())")
    _ = told.take()
    try directory.write("deep/missing/file", "again")
    told.expect(directory("deep/missing/file"))
  }

  @Test("the root directory is watched as any other")
  func root() throws {
    let told = try Told()
    #expect(told.watches.watch(["/", "//", "/.", "/.."]) == [:])
  }
}
