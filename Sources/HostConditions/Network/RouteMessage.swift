/// One message of rtnetlink, as far as needed here.
enum RouteMessage: Sendable, Hashable {
  /// The end of a dump.
  case done
  /// A refusal, with its `errno`; 0 is an acknowledgement.
  case refused(Int32)
  /// The kernel lost messages.
  case overrun
  /// An interface as it is now.
  case link(NetworkLink)
  /// An interface that is gone.
  case linkGone(Int32)
  /// An address was added or removed; routes can disappear with it without a message.
  case address
  /// An existing default route.
  case route(DefaultRoute)
  /// A default route that is gone.
  case routeGone
  /// Anything else.
  case other
}
