struct NetworkTable: Sendable, Hashable {
  /// By index.
  private(set) var links: [Int32: NetworkLink] = [:]
  /// In the kernel's order.
  private(set) var routes: [DefaultRoute] = []

  init(links: [NetworkLink] = [], routes: [DefaultRoute] = []) {
    for link in links { self.links[link.index] = link }
    self.routes = routes
  }

  mutating func add(_ message: RouteMessage) {
    switch message {
    case .link(let link): links[link.index] = link
    case .route(let route): routes.append(route)
    default: break
    }
  }

  /// Whether the table is out of date after a message.
  ///
  /// Routes that disappear with an interface or address do so without a message, so a message about either makes the table stale. Messages
  /// without news, as a wireless interface sends at each scan, do not.
  func isStale(after message: RouteMessage) -> Bool {
    switch message {
    case .link(let link): links[link.index] != link
    case .linkGone(let index): links[index] != nil
    case .route(let route): !routes.contains(route)
    case .routeGone, .address, .overrun: true
    case .done, .refused, .other: false
    }
  }

  /// The effective default route and its interface: the first by table and metric whose interface is up.
  var connection: Connection? {
    let usable = routes.sorted { $0.comesBefore($1) }
    for route in usable {
      let through = route.links.compactMap { links[$0] }.filter { $0.isUp && !$0.isLoopback }
      if let first = through.first { return Connection(links: through.map(\.name), name: first.name) }
      if route.links.isEmpty, let any = links.values.filter({ $0.isUp && !$0.isLoopback }).min(by: { $0.index < $1.index }) {
        return Connection(links: [any.name], name: any.name)
      }
    }
    return nil
  }

  struct Connection: Sendable, Hashable {
    /// The interfaces over which its traffic is spread.
    var links: [String]
    var name: String
  }

  /// Why there is no connection; names the most promising interface.
  var obstacle: String {
    let others = links.values.filter { !$0.isLoopback }
    if let down = routes.flatMap(\.links).compactMap({ links[$0] }).first(where: { !$0.isUp && !$0.isLoopback }) {
      return "\(down.name) has a default route but is down"
    }
    if let up = others.filter(\.isUp).min(by: { $0.index < $1.index }) { return "\(up.name) is up but there is no default route" }
    return others.isEmpty ? "there is no network interface but the loopback" : "no network interface is up"
  }
}

struct DefaultRoute: Sendable, Hashable {
  /// 4 or 6.
  var version: UInt8
  var table: UInt32
  /// The lowest metric wins.
  var metric: UInt32
  /// Its interfaces: several for a multipath route, none if the route uses a next-hop object.
  var links: [Int32]

  /// Whether the kernel prefers it to `other`: the main table before others, IPv4 before IPv6 with the same metric.
  func comesBefore(_ other: DefaultRoute) -> Bool {
    let mine = (isOfMain ? 0 : 1, metric, version)
    return mine < (other.isOfMain ? 0 : 1, other.metric, other.version)
  }

  private var isOfMain: Bool { table == RouteProtocol.mainTable }
}

struct NetworkLink: Sendable, Hashable {
  var index: Int32
  var name: String
  /// Whether it leads only to this machine.
  var isLoopback: Bool
  /// Whether it is administratively up and has a carrier.
  var isUp: Bool
}
