import Foundation
import TaskModel
import Testing

@testable import TaskHost

/// When changed files are looked at and acted on.
@Suite("Changed files") struct ReloadWatchStateTests {
  private static let second: Int64 = 1_000_000_000

  /// Two contents that differ: the same configuration without a file and with one.
  private static let (before, after, later) = (sources("a"), sources("b"), sources("c"))

  private static func sources(_ text: String) -> ReloadSources {
    var configuration = HostConfiguration(directory: "/nonexistent")
    configuration.file = "/nonexistent/t.toml"
    configuration.written.digest = Array(text.utf8)
    return ReloadSources(of: configuration)
  }

  private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * second) }

  private static func state(_ mode: HostConfiguration.ReloadMode) -> ReloadWatchState {
    ReloadWatchState(before, mode, interval: .seconds(1), patience: .seconds(60))
  }

  @Test("nothing is looked at before something is touched, and then once after a moment, however often it is touched")
  func once() {
    var state = Self.state(.manual)
    #expect(state.nextLook == nil)
    for _ in 0..<1000 { state.touched(at: Self.at(5)) }
    #expect(state.nextLook == Self.at(6))
    state.beginLook()
    #expect(state.looked(Self.before, isOpen: false, at: Self.at(6)) == .withdraw)
    #expect(state.nextLook == nil)
  }

  @Test("two looks that see the same are needed; then it is offered, or reloaded, once", arguments: HostConfiguration.ReloadMode.allCases)
  func rest(_ mode: HostConfiguration.ReloadMode) {
    var state = Self.state(mode)
    state.touched(at: Self.at(0))
    state.beginLook()
    #expect(state.looked(Self.after, isOpen: false, at: Self.at(1)) == nil)
    #expect(state.nextLook == Self.at(2))
    state.beginLook()
    #expect(state.looked(Self.later, isOpen: false, at: Self.at(2)) == nil, "it still changes")
    state.beginLook()
    let action = state.looked(Self.later, isOpen: false, at: Self.at(3))
    #expect(action == (mode == .auto ? .reload : .offer(["/nonexistent/t.toml"])))
    #expect(state.nextLook == nil)
    // It is touched without another content: a failed reload is not tried again.
    state.touched(at: Self.at(9))
    state.beginLook()
    #expect(state.looked(Self.later, isOpen: false, at: Self.at(10)) == nil)
    #expect(state.nextLook == nil)
    // Undone.
    state.touched(at: Self.at(20))
    state.beginLook()
    #expect(state.looked(Self.before, isOpen: false, at: Self.at(21)) == .withdraw)
    // The same again is news now.
    state.touched(at: Self.at(30))
    state.beginLook()
    _ = state.looked(Self.later, isOpen: false, at: Self.at(31))
    state.beginLook()
    #expect(state.looked(Self.later, isOpen: false, at: Self.at(32)) != nil)
  }

  @Test("a file that is open is waited for, and so is one that keeps changing, but not for ever")
  func patience() {
    for isOpen in [true, false] {
      var state = Self.state(.auto)
      state.touched(at: Self.at(0))
      var time: Int64 = 1
      while true {
        state.beginLook()
        let seen = isOpen || time % 2 == 0 ? Self.after : Self.later
        let action = state.looked(seen, isOpen: isOpen, at: Self.at(time))
        guard action == nil, time < 100 else {
          #expect(action == .reload && time == 60)
          break
        }
        time += 1
      }
    }
  }

  @Test("what is touched during a look is looked at again; a reload by anybody is what counts from then on")
  func touched() {
    var state = Self.state(.auto)
    state.touched(at: Self.at(0))
    state.beginLook()
    state.touched(at: Self.at(1))
    #expect(state.looked(Self.before, isOpen: false, at: Self.at(1)) == .withdraw)
    #expect(state.nextLook == Self.at(2))
    state.reloaded(Self.after, .manual, at: Self.at(3))
    state.beginLook()
    #expect(state.looked(Self.after, isOpen: false, at: Self.at(4)) == .withdraw)
    #expect(state.mode == .manual)
  }
}
