/// One message of rtnetlink, as far as it matters here.
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
  /// An address came or went: routes may have gone with it, of which nothing is said.
  case address
  /// A default route that is there.
  case route(DefaultRoute)
  /// A default route that is gone.
  case routeGone
  /// Anything else.
  case other
}
