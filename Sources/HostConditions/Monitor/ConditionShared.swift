import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// What the monitor and its thread share.
final class ConditionShared: Sendable {
  private let state: Guarded<State>
  /// Wakes the thread; closed when neither needs it.
  let event: Int32
  private let end = Monitor()
  private let hasEnded = Guarded(false)

  private struct State {
    var core: ConditionCore
    var looks: [ConditionLook] = []
    var isStopping = false
    var counters = ConditionCounters()
  }

  /// The orders for the thread.
  struct Orders {
    /// The conditions to observe.
    var interest: Conditions
    /// Callers that wait for a look at everything.
    var looks: [ConditionLook]
    /// Whether the thread must end.
    var isStopping: Bool
  }

  /// Nil, and `errno`, if there is no descriptor.
  init?(core: ConditionCore) {
    event = taskhost_system_event_create()
    guard event >= 0 else { return nil }
    state = Guarded(State(core: core))
  }

  deinit { close(event) }

  /// Reads or changes the state.
  func core<Value: Sendable>(_ body: (inout ConditionCore) -> Value) -> Value { state.withLock { body(&$0.core) } }

  /// Wakes the thread.
  func wake() { _ = taskhost_system_event_set(event) }

  /// Asks for a look. Returns false if the thread ends and will not answer.
  func ask(_ look: ConditionLook) -> Bool {
    let isTaken = state.withLock { state in
      if !state.isStopping { state.looks.append(look) }
      return !state.isStopping
    }
    wake()
    return isTaken
  }

  /// Tells the thread to end.
  func stop() {
    state.withLock { $0.isStopping = true }
    wake()
  }

  /// Takes the current orders; the caller must answer the looks.
  func takeOrders() -> Orders {
    state.withLock { state in
      defer { state.looks = [] }
      return Orders(interest: state.core.interest, looks: state.looks, isStopping: state.isStopping)
    }
  }

  /// What the thread did so far.
  var counters: ConditionCounters { state.withLock { $0.counters } }

  /// Counts what the thread does.
  func count(_ body: (inout ConditionCounters) -> Void) { state.withLock { body(&$0.counters) } }

  /// Called when the thread has ended its work.
  func ended() {
    end.locked { hasEnded.withLock { $0 = true } }
    end.broadcast()
  }

  /// Waits until the thread has ended its work.
  func waitForEnd() {
    end.locked { while !hasEnded.withLock({ $0 }) { end.wait() } }
  }
}
