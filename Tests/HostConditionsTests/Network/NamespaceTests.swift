import TestSupport
import HostThreads
import TaskModel
import Testing

/// Real links and routes, in network namespaces of their own.
@Suite("Network in a namespace", .enabled(if: ProbeProcess.isPossible, "needs unprivileged namespaces, veth, unshare and ip"))
struct NamespaceTests {
  /// Two links, up, the first with an address and a default route.
  private static let connected = """
    ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up \
    && ip addr add 10.9.0.1/24 dev v0 && ip route add default via 10.9.0.2
    """

  private func holds(_ name: String) -> @Sendable (String) -> Bool { { Self.held($0).contains(name) } }
  private func lacks(_ name: String) -> @Sendable (String) -> Bool { { !Self.held($0).contains(name) } }

  private static func held(_ line: String) -> [String] {
    guard let word = line.split(separator: " ").first(where: { $0.hasPrefix("held=") }) else { return [] }
    return word.dropFirst(5).split(separator: ",").map(String.init)
  }

  @Test("network holds when a link comes up with a default route, and is lost when the link goes down") func upAndDown() async throws {
    let probe = try await ProbeProcess(["holds_ms=200", "lost_ms=100"])
    try await probe.ask("interest network")
    #expect(try await probe.ask("look").contains("network{there is no network interface but the loopback}"))
    let up = try await probe.change(after: "run \(Self.connected)", holds("network"))
    #expect(up.contains("network{v0 is up with a default route}"))
    let down = try await probe.change(after: "run ip link set v0 down", lacks("network"))
    #expect(down.contains("network{no network interface is up}") || down.contains("network{v1"))
    let again = try await probe.change(after: "run ip link set v0 up && ip route add default via 10.9.0.2", holds("network"))
    #expect(again.contains("v0 is up"))
  }

  @Test("a route that went silently with its link is not believed in when the link is up again") func silentRoute() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.ask("interest network")
    try await probe.change(after: "run \(Self.connected)", holds("network"))
    try await probe.change(after: "run ip link set v0 down", lacks("network"))
    // The kernel takes IPv4 routes away with their link and says nothing: only a new look tells.
    try await probe.run("ip link set v0 up")
    let report = try await probe.report { $0.contains("is up but there is no default route") }
    #expect(Self.held(report).isEmpty)
  }

  @Test("a carrier that is lost loses the network, though the interface stays up") func carrier() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.ask("interest network")
    try await probe.change(after: "run \(Self.connected)", holds("network"))
    let lost = try await probe.change(after: "run ip link set v1 down", lacks("network"))
    #expect(lost.contains("network{v0 has a default route but is down}"))
    try await probe.change(after: "run ip link set v1 up", holds("network"))
  }

  @Test("an IPv6 default route is a network too, and its going loses it") func version6() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.ask("interest network")
    try await probe.change(
      after: "run ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && ip -6 route add default dev v0",
      holds("network"))
    try await probe.change(after: "run ip -6 route del default dev v0", lacks("network"))
  }

  @Test("an unreachable default route is no network") func unreachable() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.run(
      "ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && ip addr add 10.9.0.1/24 dev v0",
      "ip route add unreachable default")
    try await probe.ask("interest network")
    try await probe.change(after: "run ip route replace default via 10.9.0.2", holds("network"))
    try await probe.change(after: "run ip route replace unreachable default", lacks("network"))
  }

  @Test("a multipath default route holds while one of its interfaces is up") func multipath() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.run(
      "ip link add v0 type veth peer name v1 && ip link add w0 type veth peer name w1",
      "for l in v0 v1 w0 w1; do ip link set $l up; done; ip addr add 10.9.0.1/24 dev v0 && ip addr add 10.8.0.1/24 dev w0")
    try await probe.ask("interest network")
    try await probe.change(after: "run ip route add default nexthop via 10.9.0.2 nexthop via 10.8.0.2", holds("network"))
    try await probe.change(after: "run ip link set v1 down && ip link set w1 down", lacks("network"))
    try await probe.change(after: "run ip link set w1 up", holds("network"))
  }

  @Test("the interface of the default route with the lowest metric decides whether the network is metered") func metered() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0", "metered=w0"])
    try await probe.run(
      "ip link add v0 type veth peer name v1 && ip link add w0 type veth peer name w1",
      "for l in v0 v1 w0 w1; do ip link set $l up; done; ip addr add 10.9.0.1/24 dev v0 && ip addr add 10.8.0.1/24 dev w0",
      "ip route add default via 10.9.0.2 metric 100 && ip route add default via 10.8.0.2 metric 600")
    try await probe.change(after: "interest network unmetered", holds("unmetered"))
    let lost = try await probe.change(after: "run ip link set v0 down", lacks("unmetered"))
    #expect(Self.held(lost) == ["network"])
    #expect(lost.contains("unmetered{w0 is up with a default route and named in metered_interfaces}"))
    try await probe.change(after: "run ip link set v0 up && ip route add default via 10.9.0.2 metric 100", holds("unmetered"))
  }

  @Test("a network that is back before it was gone long enough is not lost") func flapping() async throws {
    // Ten minutes: the test ends long before.
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=600000"])
    try await probe.ask("interest network")
    try await probe.change(after: "run \(Self.connected)", holds("network"))
    let settling = try await probe.change(after: "run ip link set v1 down") { $0.contains("network{settling") }
    #expect(Self.held(settling) == ["network"])
    let back = try await probe.change(after: "run ip link set v1 up") { !$0.contains("settling") }
    #expect(Self.held(back) == ["network"])
  }

  @Test("network holds no sooner than it was up for the time that is set") func holdsAfter() async throws {
    let probe = try await ProbeProcess(["holds_ms=700", "lost_ms=0"])
    try await probe.ask("interest network")
    try await probe.run("ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && ip addr add 10.9.0.1/24 dev v0")
    let began = SystemClock.now
    try await probe.change(after: "run ip route add default via 10.9.0.2", holds("network"))
    #expect(SystemClock.now - began >= .milliseconds(700))
  }

  @Test("without interest the links may do what they like: nothing wakes, and nothing is open") func noInterest() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    let before = try await probe.counter("wakeups")
    try await probe.run(Self.connected, "for i in 1 2 3 4 5; do ip link set v0 down; ip link set v0 up; done")
    #expect(try await probe.counter("wakeups") == before)
    try await probe.change(after: "interest network") { !$0.contains("not read yet") }
    try await probe.change(after: "interest") { $0.contains("network{not observed") }
    let after = try await probe.counter("wakeups")
    try await probe.run("for i in 1 2 3 4 5; do ip link set v0 down; ip link set v0 up; done")
    #expect(try await probe.counter("wakeups") == after)
  }

  @Test("a look sees the network of which there is no interest, and begins no interest in it") func look() async throws {
    let probe = try await ProbeProcess()
    try await probe.run(Self.connected)
    let look = try await probe.ask("look")
    #expect(Self.held(look).contains("network"))
    #expect(look.contains("network{v0 is up with a default route}"))
    #expect(try await probe.ask("report").contains("network{not observed"))
  }

  @Test("when the kernel lost messages, all is read again, and the end is right") func overrun() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0", "buffer=1"])
    // Without IPv6, whose own addresses would come a second later and have all read again.
    try await probe.run("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
    try await probe.run("ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && ip addr add 10.9.0.1/24 dev v0")
    try await probe.change(after: "interest network storage_not_low") { $0.contains("network{v") }
    // The monitor's thread is held in `changed`, so that it reads nothing meanwhile. What the socket keeps is of routes that mean nothing;
    // the one that means something is lost.
    try await probe.ask("stall")
    try await probe.ask("override none storage_not_low")
    try await probe.run(
      "for i in $(seq 1 200); do echo route add 10.77.$i.0/24 dev v0; done | ip -batch -", "ip route add default via 10.9.0.2")
    #expect(try await probe.counter("overruns") == 0)
    try await probe.change(after: "resume", holds("network"))
    #expect(try await probe.counter("overruns") > 0)
  }

  @Test("a storm of changes makes few looks at all routes") func storm() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.ask("interest network")
    let began = SystemClock.now
    try await probe.run("for i in $(seq 1 100); do ip link add a$i type veth peer name b$i; ip link set a$i up; done")
    let looks = Int((SystemClock.now - began).wholeMilliseconds / 250) + 3
    #expect(try await probe.counter("dumps") <= looks)
    try await probe.change(after: "run \(Self.connected)", holds("network"))
  }

  @Test("a network that cannot be looked at counts as held, with the reason") func noNetlink() async throws {
    let probe = try await ProbeProcess()
    #expect(try await probe.ask("files 3") == "files 0")
    let line = try await probe.change(after: "interest network unmetered", holds("unmetered"))
    #expect(Self.held(line) == ["network", "unmetered"])
    #expect(line.contains("network{unknown the network is not known, which counts as held: netlink: socket: Too many open files}"))
  }

  @Test("an override wins over the links until it is cleared, and without network nothing is unmetered") func override() async throws {
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0"])
    try await probe.run(Self.connected)
    try await probe.change(after: "interest network unmetered", holds("unmetered"))
    let denied = try await probe.change(after: "override none network", lacks("network"))
    #expect(Self.held(denied).isEmpty)
    #expect(denied.contains("network{overridden to not hold; v0 is up with a default route}"))
    #expect(denied.contains("unmetered{network is overridden to not hold; v0 is up"))
  }

  @Test("a hundred monitors leave no descriptor behind") func leaks() async throws {
    let probe = try await ProbeProcess()
    let answer = try await probe.ask("monitors 100")
    let more = try #require(answer.split(separator: " ").last.flatMap { Int($0) })
    // A stopped monitor's thread may be about to close what it wakes by.
    #expect((-2...2).contains(more))
  }

  @Test("what NetworkManager says is heard while unmetered is of interest", .enabled(if: BusDaemon.isPossible, "needs dbus-daemon"))
  func manager() async throws {
    let daemon = try await onThread { try BusDaemon() }
    let manager = try await FakeNetworkManager(bus: daemon.socket, metered: 2)
    let probe = try await ProbeProcess(["holds_ms=0", "lost_ms=0", "bus=\(daemon.socket)"])
    try await probe.run(Self.connected)
    #expect(try await probe.ask("look").contains("unmetered{v0 is up, and not metered as NetworkManager says}"))
    try await probe.change(after: "interest network unmetered", holds("unmetered"))
    manager.say(1)
    let lost = try await probe.line { $0.hasPrefix("changed") && !Self.held($0).contains("unmetered") }
    #expect(Self.held(lost) == ["network"])
    #expect(lost.contains("unmetered{NetworkManager says that v0 is metered}"))
    manager.leave()
    let gone = try await probe.line { $0.hasPrefix("changed") && Self.held($0).contains("unmetered") }
    #expect(gone.contains("unmetered{v0 is up, and nothing says that it is metered}"))
  }
}
