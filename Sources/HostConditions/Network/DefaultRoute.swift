/// A route to everywhere.
struct DefaultRoute: Sendable, Hashable {
  /// 4 or 6.
  var version: UInt8
  /// The routing table it is in.
  var table: UInt32
  /// The lowest metric wins.
  var metric: UInt32
  /// Its interfaces: several for a multipath route, none if the kernel uses a next-hop object instead.
  var links: [Int32]

  /// Whether it takes precedence over `other`: the main table before others, IPv4 before IPv6 with the same metric.
  func comesBefore(_ other: DefaultRoute) -> Bool {
    let mine = (isOfMain ? 0 : 1, metric, version)
    return mine < (other.isOfMain ? 0 : 1, other.metric, other.version)
  }

  private var isOfMain: Bool { table == RouteProtocol.mainTable }
}
