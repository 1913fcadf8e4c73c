import Testing

@testable import HostConditions

@Suite("Network and metered network") struct NetworkRuleTests {
  private static let loopback = NetworkLink(index: 1, name: "lo", isLoopback: true, isUp: true)
  private static func link(_ index: Int32, _ name: String, _ isUp: Bool = true) -> NetworkLink {
    NetworkLink(index: index, name: name, isLoopback: false, isUp: isUp)
  }
  private static func route(_ links: [Int32], metric: UInt32 = 0, table: UInt32 = 254, version: UInt8 = 4) -> DefaultRoute {
    DefaultRoute(version: version, table: table, metric: metric, links: links)
  }
  private static let two = [loopback, link(2, "eth0"), link(3, "wwan0")]

  @Test(
    "there is a network when an interface that is up has a default route",
    arguments: [
      ([loopback], [], Leaning.lost, "there is no network interface but the loopback"),
      ([loopback, link(2, "eth0", false)], [], .lost, "no network interface is up"),
      ([loopback, link(2, "eth0")], [], .lost, "eth0 is up but there is no default route"),
      ([loopback, link(2, "eth0", false)], [route([2])], .lost, "eth0 has a default route but is down"),
      ([loopback, link(2, "eth0")], [route([2])], .holds, "eth0 is up with a default route"),
      ([loopback, link(2, "eth0")], [route([2], version: 6)], .holds, "eth0 is up with a default route"),
      ([loopback], [route([1])], .lost, "there is no network interface but the loopback"),
      ([loopback, link(2, "eth0")], [route([9])], .lost, "eth0 is up but there is no default route"),
      ([loopback, link(2, "eth0")], [route([])], .holds, "eth0 is up with a default route"),
      ([loopback, link(2, "eth0", false), link(3, "wlan0")], [route([2, 3])], .holds, "wlan0 is up with a default route"),
    ] as [([NetworkLink], [DefaultRoute], Leaning, String)])
  func network(_ links: [NetworkLink], _ routes: [DefaultRoute], _ leaning: Leaning, _ observed: String) {
    let reading = NetworkRule(meteredInterfaces: []).network(NetworkTable(links: links, routes: routes))
    #expect(reading == Reading(leaning: leaning, observed: observed))
  }

  @Test(
    "the route that is taken decides whether it is metered: the main table first, then the lowest metric, then IPv4",
    arguments: [
      ([route([2], metric: 100), route([3], metric: 600)], Leaning.holds), ([route([2], metric: 600), route([3], metric: 100)], .lost),
      ([route([3], metric: 100, table: 7), route([2], metric: 600)], .holds), ([route([3], table: 7)], .lost),
      ([route([3], version: 6), route([2])], .holds), ([route([2], version: 6), route([3])], .lost), ([route([2, 3])], .lost),
      ([], .lost),
    ])
  func taken(_ routes: [DefaultRoute], _ leaning: Leaning) {
    let rule = NetworkRule(meteredInterfaces: ["wwan0"])
    #expect(rule.unmetered(NetworkTable(links: Self.two, routes: routes), manager: nil).leaning == leaning)
  }

  @Test(
    "what NetworkManager says or guesses counts, and its silence does not",
    arguments: [
      (ManagerMetered.yes, Leaning.lost, "NetworkManager says that eth0 is metered"),
      (.guessYes, .lost, "NetworkManager guesses that eth0 is metered"),
      (.no, .holds, "eth0 is up, and not metered as NetworkManager says"),
      (.guessNo, .holds, "eth0 is up, and not metered as NetworkManager says"),
      (.unknown, .holds, "eth0 is up, and nothing says that it is metered"),
      (nil, .holds, "eth0 is up, and nothing says that it is metered"),
    ] as [(ManagerMetered?, Leaning, String)])
  func manager(_ manager: ManagerMetered?, _ leaning: Leaning, _ observed: String) {
    let table = NetworkTable(links: Self.two, routes: [Self.route([2])])
    #expect(
      NetworkRule(meteredInterfaces: ["wwan0"]).unmetered(table, manager: manager) == Reading(leaning: leaning, observed: observed))
  }

  @Test("metered_interfaces wins over what NetworkManager says") func listed() {
    let table = NetworkTable(links: Self.two, routes: [Self.route([3])])
    #expect(NetworkRule(meteredInterfaces: ["wwan0"]).unmetered(table, manager: .no).leaning == .lost)
  }

  @Test(
    "a message makes the table stale when it tells something new",
    arguments: [
      (RouteMessage.link(link(2, "eth0")), false), (.link(link(2, "eth0", false)), true), (.link(link(2, "renamed")), true),
      (.link(link(4, "new")), true), (.linkGone(2), true), (.linkGone(9), false), (.route(route([2])), false),
      (.route(route([2], metric: 5)), true), (.routeGone, true), (.address, true), (.overrun, true), (.other, false), (.done, false),
    ])
  func stale(_ message: RouteMessage, _ isStale: Bool) {
    #expect(NetworkTable(links: Self.two, routes: [Self.route([2])]).isStale(after: message) == isStale)
  }

  @Test("this machine's interfaces and routes can be read, the loopback among them") func machine() throws {
    let table = try RouteDump.make()
    #expect(table.links.values.contains { $0.isLoopback && $0.name == "lo" })
  }
}
