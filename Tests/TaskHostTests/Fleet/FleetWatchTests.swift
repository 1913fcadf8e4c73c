import TaskModel
import Testing

@testable import TaskHost

struct FleetWatchTests {
  @Test func aHostIsSilentWhenItWasSeenUnchangedForAsLongAsRunsLast() {
    var watch = FleetWatch(lasting: .nanoseconds(80))
    #expect(watch.silent(at: 1000).isEmpty && watch.next(after: 1000) == nil)
    watch.note(["a": 1, "b": 7], at: 100)
    watch.note(["a": 2, "b": 7], at: 150)
    #expect(watch.silent(at: 179).isEmpty)
    #expect(watch.next(after: 160) == .nanoseconds(20))
    #expect(watch.silent(at: 180) == ["b": 7])
    #expect(watch.next(after: 180) == .nanoseconds(50))
    // One that renews again, or is fenced by another, is watched anew, or no more.
    watch.note(["b": 8], at: 200)
    #expect(watch.silent(at: 279).isEmpty)
    #expect(watch.silent(at: 280) == ["b": 8])
  }

  @Test func aHostThatWasSuspendedNamesWhatItHadSeen() {
    var watch = FleetWatch(lasting: .nanoseconds(80))
    watch.note(["a": 1], at: 0)
    // The database compares the number, which is an old one.
    #expect(watch.silent(at: .max) == ["a": 1])
    watch.note(["a": 9], at: .max)
    #expect(watch.silent(at: .max).isEmpty)
  }
}
