import Synchronization
import TaskModel

/// Passes events on to whoever observes the host.
final class EventBroadcaster: Sendable {
  /// In a struct: a lock around a bare function would wrap it once more at each access.
  private struct Observer: Sendable {
    let tell: @Sendable (HostEvent) -> Void
  }

  private let observer = Mutex<Observer?>(nil)
  /// Told when there is an observer, and when there is none any more.
  private let onInterest: @Sendable (Bool) -> Void

  init(onInterest: @escaping @Sendable (Bool) -> Void) { self.onInterest = onInterest }

  func set(_ new: (@Sendable (HostEvent) -> Void)?) {
    observer.withLock { observer in
      if (observer == nil) != (new == nil) { onInterest(new != nil) }
      observer = new.map(Observer.init)
    }
  }

  func publish(_ event: @autoclosure () -> HostEvent) {
    guard let observer = observer.withLock({ $0 }) else { return }
    observer.tell(event())
  }
}
