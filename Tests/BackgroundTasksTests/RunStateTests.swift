import CTaskHost
import TestSupport
import TaskHostSDK
import Testing

@testable import BackgroundTasks

@Suite("Run state")
struct RunStateTests {
  private enum Event: CaseIterable {
    case begin, returned, succeed, fail, expire, setHandler, clearHandler, callReturned, release
  }

  /// What an app and a host can do only after something else.
  private func isPossible(_ event: Event, _ state: RunState) -> Bool {
    switch event {
    case .begin, .expire: true
    // While its handler is called the task is held.
    case .release: state.calls == 0
    case .returned: state.handler == .running
    case .succeed, .fail, .setHandler, .clearHandler: state.handler != .waiting
    case .callReturned: state.calls > 0
    }
  }

  /// Goes every way of `depth` events from `state`.
  private func explore(_ state: RunState, told: Int, _ depth: Int) -> Int {
    guard depth > 0 else { return 1 }
    var ways = 0
    for event in Event.allCases where isPossible(event, state) {
      var next = state
      var told = told
      switch event {
      case .begin:
        let may = next.begin()
        #expect(may == (state.handler == .waiting))
      case .returned: next.returned()
      case .succeed: #expect(next.complete(success: true) == (state.success == nil))
      case .fail: #expect(next.complete(success: false) == (state.success == nil))
      case .expire:
        if next.expire(.host(.budget), notBegun: "Not begun.") != nil { told += 1 }
      case .release:
        let (completes, unused) = next.abandon()
        #expect(completes == (state.success == nil))
        #expect((unused != nil) == (completes && state.expiration != nil))
      case .setHandler:
        let late = next.set(ExpirationHandler {})
        #expect((late != nil) == (state.hasExpired && (state.success == nil || state.wasCompletedByExpiry)))
      case .clearHandler: #expect(next.set(nil) == nil)
      case .callReturned: next.callReturned()
      }
      check(state, next, told)
      ways += explore(next, told: told, depth - 1)
    }
    return ways
  }

  private func check(_ before: RunState, _ after: RunState, _ told: Int) {
    if let success = before.success { #expect(after.success == success, "the first completion stands") }
    if before.hasExpired { #expect(after.hasExpired) }
    #expect(told <= 1, "the handler is called once by expiry")
    if after.success != nil || after.hasExpired { #expect(after.expiration == nil, "no handler is kept beyond its use") }
    if after.wasCompletedByExpiry { #expect(after.success == false && after.message != nil) }
    if after.success == nil { #expect(!after.isOver) }
    if after.isOver { #expect(after.handler != .running && after.calls == 0) }
    if before.handler == .returned { #expect(after.handler == .returned) }
    if after.hasExpired, after.success == nil { #expect(told == 1, "an expired run that goes on has been told") }
  }

  @Test("in every order of events the first completion stands, expiry tells once, and no handler is kept")
  func everyOrder() {
    #expect(explore(RunState(), told: 0, 6) > 10_000)
  }
}
