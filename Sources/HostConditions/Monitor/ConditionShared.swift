import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// What the monitor and its thread share.
final class ConditionShared: Sendable {
  private let state: Guarded<State>
  /// Wakes the thread; closed when neither needs it.
  let event: Int32
  /// Set when the thread has ended its work.
  let end = Awaited<Void>()

  private struct State {
    var core: ConditionCore
    var looks: [Awaited<ConditionReport>] = []
    var isStopping = false
    var counters = ConditionCounters()
  }

  /// The orders for the thread.
  struct Orders {
    /// The conditions to observe.
    var interest: Conditions
    /// Callers that wait for a look at everything.
    var looks: [Awaited<ConditionReport>]
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

  func wake() { _ = taskhost_system_event_set(event) }

  /// Asks for a look. Returns false if the thread ends and will not answer.
  func ask(_ look: Awaited<ConditionReport>) -> Bool {
    let isTaken = state.withLock { state in
      if !state.isStopping { state.looks.append(look) }
      return !state.isStopping
    }
    wake()
    return isTaken
  }

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

  var counters: ConditionCounters { state.withLock { $0.counters } }

  func count(_ body: (inout ConditionCounters) -> Void) { state.withLock { body(&$0.counters) } }
}

/// Counters of the monitor's thread, for tests.
package struct ConditionCounters: Sendable, Hashable {
  /// How often it woke.
  package var wakeUps = 0
  /// How often it read all interfaces and routes.
  package var dumps = 0
  /// How often the kernel had lost messages about them.
  package var overruns = 0
  /// How many readings of conditions it took.
  package var readings = 0
}
