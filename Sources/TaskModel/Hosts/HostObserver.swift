/// Observes the events of a host. Both functions are called on any thread and must return at once.
public struct HostObserver: Sendable {
  /// Called for every event.
  public let receive: @Sendable (HostEvent) -> Void
  /// Called when the host has ended. No events follow.
  public let finish: @Sendable () -> Void

  /// Creates an observer.
  public init(receive: @escaping @Sendable (HostEvent) -> Void, finish: @escaping @Sendable () -> Void) {
    self.receive = receive
    self.finish = finish
  }
}
