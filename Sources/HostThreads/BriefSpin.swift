import Glibc
import TaskModel

/// Lets a thread wait awake for a short while before it sleeps.
///
/// A client that waits for each answer sends its next request within some 100 µs of it. A thread that sleeps meanwhile leaves its core
/// halted, and waking it costs tens of microseconds. So the thread spins, but only while that pays: after a wait that ended early, until
/// one does not. An idle thread never spins. Used on one thread.
public struct BriefSpin {
  /// How long a wait may last to be worth it.
  public let longest: Duration

  private var began = SystemClock.now
  private var pays = false

  /// Creates one that has seen no wait.
  public init(longest: Duration = .microseconds(250)) { self.longest = longest }

  /// Begins a wait: returns when `isOver` says so, or when it is better to sleep.
  public mutating func wait(until isOver: () -> Bool) {
    began = SystemClock.now
    guard pays else { return }
    // Other threads of this core go first.
    while !isOver(), SystemClock.now < began + longest { sched_yield() }
  }

  /// A wait has ended, because of what `isOver` tells or for another reason.
  public mutating func ended(asAwaited: Bool) { pays = asAwaited && SystemClock.now < began + longest }
}
