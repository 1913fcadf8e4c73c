/// A route to everywhere.
struct DefaultRoute: Sendable, Hashable {
  /// 4 or 6.
  var version: UInt8
  /// The routing table it is in.
  var table: UInt32
  /// The lowest is taken.
  var metric: UInt32
  /// The interfaces it leads through: several for a multipath route, none if the kernel names a next-hop object instead.
  var links: [Int32]

  /// Whether it is taken before `other`: the main table before the others, IPv4 before IPv6 of the same metric.
  func comesBefore(_ other: DefaultRoute) -> Bool {
    let mine = (isOfMain ? 0 : 1, metric, version)
    return mine < (other.isOfMain ? 0 : 1, other.metric, other.version)
  }

  private var isOfMain: Bool { table == RouteProtocol.mainTable }
}
