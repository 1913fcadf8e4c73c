import Synchronization
public import TaskModel

/// Pauses, which hold nothing here.
extension MemoryHost {
  /// As the protocol says; two requests wait, and one runs.
  public func pause(_ order: PauseOrder, isDry: Bool) async throws(RequestRefusal) -> BegunPause {
    try order.check(now: now)
    let pause = state.withLock { state in
      if !isDry { state.pausesMade += 1 }
      let pause = Pause(id: PauseID(isDry ? 0 : state.pausesMade), order: order, since: now)
      if !isDry { state.pauses.append(pause) }
      return pause
    }
    return BegunPause(pause: pause, waiting: 2, running: 1)
  }

  /// As the protocol says.
  public func resume(_ selection: PauseSelection, ofFleet: Bool, by who: String) async throws(RequestRefusal) -> [Pause] {
    let ended = state.withLock { state in
      let ended = state.pauses.filter { $0.order.isOfFleet == ofFleet && selection.selects($0) }
      state.pauses.removeAll { ended.contains($0) }
      return ended
    }
    guard !ended.isEmpty else { throw RequestRefusal(.notFound, "nothing is paused") }
    return ended
  }

  /// As the protocol says.
  public func pauses() async -> [Pause] { state.withLock { $0.pauses } }

  /// Lists have all there is.
  public func listGap() async -> String? { nil }
}
