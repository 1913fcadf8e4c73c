import HostThreads
import Testing

@testable import TaskHost

@Suite("Changes of watched files") struct FileEventsTests {
  /// What was passed on, and how to answer it.
  private final class Passed: Sendable {
    let calls = Guarded<[(path: String, recorded: @Sendable (Bool) -> Void)]>([])

    var paths: [String] { calls.withLock { $0.map(\.path) } }
    func answer(_ place: Int, _ isRecorded: Bool) { calls.withLock { $0[place].recorded }(isRecorded) }
  }

  @Test("of each file one is under way, and however often it changes meanwhile, one more follows")
  func bounded() {
    let passed = Passed()
    let events = FileEvents { path, recorded in passed.calls.withLock { $0.append((path, recorded)) } }
    for _ in 0..<1000 { for path in ["/a", "/b"] { events.changed(path) } }
    #expect(passed.paths == ["/a", "/b"])
    passed.answer(0, true)
    #expect(passed.paths == ["/a", "/b", "/a"])
    for place in 1...2 { passed.answer(place, true) }
    #expect(passed.paths == ["/a", "/b", "/a", "/b"])
    passed.answer(3, true)
    events.changed("/a")
    #expect(passed.paths.count == 5)
  }

  @Test("a change that the store does not take is passed on when it works again, once")
  func owed() {
    let passed = Passed()
    let events = FileEvents { path, recorded in passed.calls.withLock { $0.append((path, recorded)) } }
    events.changed("/a")
    events.changed("/a")
    passed.answer(0, false)
    #expect(passed.paths == ["/a"])
    events.storeRecovered()
    #expect(passed.paths == ["/a", "/a"])
    passed.answer(1, true)
    events.storeRecovered()
    #expect(passed.paths == ["/a", "/a"])
  }
}
