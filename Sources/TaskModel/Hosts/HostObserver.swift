/// Observes the events of a host. Both functions are called on any thread and must return at once.
public struct HostObserver: Sendable {
  /// Something happened.
  public let receive: @Sendable (HostEvent) -> Void
  /// The host has ended: nothing happens any more.
  public let finish: @Sendable () -> Void

  /// An observer as given.
  public init(receive: @escaping @Sendable (HostEvent) -> Void, finish: @escaping @Sendable () -> Void) {
    self.receive = receive
    self.finish = finish
  }
}
