import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

final class ConditionShared: Sendable {
  private let state: Guarded<State>
  /// Wakes the thread; closed with the last reference.
  let event: Int32
  /// Set when the thread's work is over.
  let end = Awaited<Void>()

  private struct State {
    var core: ConditionCore
    var looks: [Awaited<ConditionReport>] = []
    var isStopping = false
    var counters = ConditionCounters()
  }

  struct Orders {
    var interest: Conditions
    /// Callers that wait for fresh readings of all conditions.
    var looks: [Awaited<ConditionReport>]
    var isStopping: Bool
  }

  /// nil with `errno` if no descriptor is available.
  init?(core: ConditionCore) {
    event = taskhost_system_event_create()
    guard event >= 0 else { return nil }
    state = Guarded(State(core: core))
  }

  deinit { close(event) }

  func core<Value: Sendable>(_ body: (inout ConditionCore) -> Value) -> Value { state.withLock { body(&$0.core) } }

  func wake() { _ = taskhost_system_event_set(event) }

  /// Asks for fresh readings. Returns false if the thread is ending and will not answer.
  func ask(_ look: Awaited<ConditionReport>) -> Bool {
    // The lock is held so that the thread takes the order and the event together, and does not wake again for work it has done.
    state.withLock { state in
      if !state.isStopping { state.looks.append(look) }
      wake()
      return !state.isStopping
    }
  }

  func stop() {
    state.withLock { state in
      state.isStopping = true
      wake()
    }
  }

  /// Takes the current orders; the caller must answer the looks.
  func takeOrders() -> Orders {
    state.withLock { state in
      var count: UInt64 = 0
      _ = read(event, &count, MemoryLayout<UInt64>.size)
      defer { state.looks = [] }
      return Orders(interest: state.core.interest, looks: state.looks, isStopping: state.isStopping)
    }
  }

  var counters: ConditionCounters { state.withLock { $0.counters } }

  func count(_ body: (inout ConditionCounters) -> Void) { state.withLock { body(&$0.counters) } }
}

/// Counts of the monitor's thread, for tests.
package struct ConditionCounters: Sendable, Hashable {
  package var wakeUps = 0
  /// Complete readings of interfaces and routes.
  package var dumps = 0
  /// Losses of kernel messages about these.
  package var overruns = 0
  /// Readings of conditions.
  package var readings = 0
}
