import Synchronization
import TaskModel

/// Passes events on to whoever observes the host.
final class EventBroadcaster: Sendable {
  private let observer = Mutex<HostObserver?>(nil)
  /// Told when there is an observer, and when there is none any more.
  private let onInterest: @Sendable (Bool) -> Void

  init(onInterest: @escaping @Sendable (Bool) -> Void) { self.onInterest = onInterest }

  func set(_ new: HostObserver?) {
    observer.withLock { observer in
      if (observer == nil) != (new == nil) { onInterest(new != nil) }
      observer = new
    }
  }

  func publish(_ event: @autoclosure () -> HostEvent) {
    guard let observer = observer.withLock({ $0 }) else { return }
    observer.receive(event())
  }

  /// Tells the observer that nothing happens any more.
  func finish() {
    let observer = observer.withLock { $0 }
    set(nil)
    observer?.finish()
  }
}
