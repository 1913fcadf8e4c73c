import CTaskHost

/// Finds the run or the launch that a handle names, in all test hosts of the process: the C functions are given nothing but the handle.
final class Registry: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private static let shared = Registry()

  /// Not a `Mutex`, which the thread sanitizer of an author's tests would not understand.
  private let monitor = Monitor()
  private var runs: [taskhost_task: RunState] = [:]
  private var freeSlots: [UInt64] = []
  private var slots: UInt64 = 0
  /// Far from small numbers, so that a forgotten variable names no run.
  private var lastRun: UInt64 = 0x2B0F_0000_0000
  private var launches: [taskhost_launch: LaunchSession] = [:]
  /// Far from small numbers, so that a forgotten variable names no launch.
  private var lastLaunch: taskhost_launch = 0x5441_534B_0000_0000

  private static func locked<Value>(_ body: (Registry) -> Value) -> Value { shared.monitor.locked { body(shared) } }

  /// A handle that no run had before: 16 bits of slot, 48 bits of counter, never 0.
  static func newHandle() throws(TestHostError) -> taskhost_task {
    let handle: taskhost_task? = locked { registry in
      let slot: UInt64
      if let free = registry.freeSlots.popLast() {
        slot = free
      } else {
        guard registry.slots < 65_536 else { return nil }
        slot = registry.slots
        registry.slots += 1
      }
      registry.lastRun += 1
      return slot << 48 | registry.lastRun
    }
    guard let handle else { throw TestHostError.notPossible("65,536 runs are live or were killed in this process, the most there can be") }
    return handle
  }

  static func enter(_ run: RunState) { locked { $0.runs[run.handle] = run } }

  /// Forgets a run whose thread has ended. A killed run stays for good, so that what is left of it stays frozen.
  static func leave(_ run: RunState) {
    locked { if $0.runs.removeValue(forKey: run.handle) != nil { $0.freeSlots.append(run.handle >> 48) } }
  }

  static func run(_ handle: taskhost_task) throws(CallFailure) -> RunState {
    guard let run = locked({ $0.runs[handle] }) else { throw .stale }
    return run
  }

  static func open(_ session: LaunchSession) -> taskhost_launch {
    locked { registry in
      registry.lastLaunch += 1
      registry.launches[registry.lastLaunch] = session
      return registry.lastLaunch
    }
  }

  static func close(_ handle: taskhost_launch) { _ = locked { $0.launches.removeValue(forKey: handle) } }

  static func launch(_ handle: taskhost_launch) throws(CallFailure) -> LaunchSession {
    guard let session = locked({ $0.launches[handle] }) else { throw .launchIsOver }
    return session
  }
}
