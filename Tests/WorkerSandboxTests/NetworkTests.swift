import Foundation
import Glibc
import Testing

@Suite("Connections", .enabled(if: Kernel.landlockABI >= 4)) struct NetworkTests {
  private static let unix = "1"
  private static let inet = "2"
  private static let inet6 = "10"
  private static let netlink = "16"
  private static let stream = "1"
  private static let datagram = "2"
  private static let raw = "3"
  /// With SOCK_CLOEXEC and SOCK_NONBLOCK.
  private static let flaggedStream = "0x80801"

  @Test("without the entitlement there are no sockets but pairs", arguments: Kernel.abis)
  func none(_ abi: Int) throws {
    let families = [1, 2, 10, 16, 17, 38, 40]
    let result = try Probe.run(
      ["--landlock", "\(abi)"], families.flatMap { [("socket", "\($0):1:0"), ("socket", "\($0):2:0"), ("socket", "\($0):3:0")] })
    #expect(result.answers == Array(repeating: EPERM, count: 21))
    #expect(try Probe.answer([], "resolve", "example.invalid") > 1000)
  }

  @Test("pairs pass bytes and descriptors, and reach nobody else")
  func pairs() throws {
    let place = try Playground()
    #expect(try Probe.answer([], "socketpair", "1:1") == 0)
    #expect(try Probe.answer([], "socketpair", "1:5") == 0)
    #expect(try Probe.answer([], "socketpair", "1:2") == EPERM)
    #expect(try Probe.answer([], "socketpair", "1:3") == EPERM)
    #expect(try Probe.answer([], "call", "socketpair:0x100000001:1:0:0") == EPERM)
    #expect(try Probe.answer([], "bind-pair", "") == EPERM)
    for kind in [1, 5] as [Int32] {
      // Connected for good: it cannot be connected again, to a server's path.
      let server = try UnixListener(kind: kind, path: place("other/server\(kind)"))
      let answer = try Probe.answer([], "pair-to-path", "\(kind):\(server.path)")
      #expect(answer == EISCONN || answer == EINVAL)
    }
  }

  @Test("connect: TCP and UDP to any port, and names", arguments: Kernel.abis)
  func connect(_ abi: Int) throws {
    let listener = try Listener()
    let result = try Probe.run(
      ["--network", "connect", "--landlock", "\(abi)"],
      [
        ("connect", "\(listener.port)"), ("connect-udp", "\(listener.port)"), ("resolve", "localhost"),
        ("socket", "\(Self.inet):\(Self.flaggedStream):0"), ("socket", "\(Self.inet):\(Self.stream):6"),
        ("socket", "\(Self.inet6):\(Self.stream):0"), ("socket", "\(Self.inet6):\(Self.datagram):17"),
        ("socket", "\(Self.netlink):\(Self.raw):0"), ("socket", "\(Self.netlink):\(Self.datagram):0"),
      ])
    #expect(result.answers == Array(repeating: 0, count: 9))
    #expect(result.denials == [])
  }

  @Test("connect gives no other family, kind or protocol", arguments: ["connect", "443"])
  func otherSockets(_ network: String) throws {
    let sockets = [
      "\(Self.unix):1:0", "\(Self.unix):2:0", "\(Self.unix):5:0", "0:1:0", "17:3:0", "38:5:0", "40:1:0", "44:3:0", "\(Self.inet):3:1",
      "\(Self.inet):3:6", "\(Self.inet):1:132", "\(Self.inet):1:262", "\(Self.inet):1:256", "\(Self.inet6):1:262", "\(Self.inet):5:132",
      "\(Self.inet):2:1", "\(Self.inet):2:136", "\(Self.netlink):3:15", "\(Self.netlink):2:9", "\(Self.netlink):1:0",
    ]
    let result = try Probe.run(["--network", network], sockets.map { ("socket", $0) })
    #expect(result.answers == Array(repeating: EPERM, count: sockets.count))
  }

  @Test("garbage above the 32 bits that the kernel reads opens nothing", arguments: ["connect", "443"])
  func upperBits(_ network: String) throws {
    let result = try Probe.run(
      ["--network", network],
      [
        ("socket-raw", "0x100000001:1:0"), ("socket-raw", "0x100000010:3:15"), ("socket-raw", "2:0x100000003:1"),
        ("socket-raw", "2:1:0x100000106"),
      ])
    #expect(result.answers == Array(repeating: EPERM, count: 4))
  }

  @Test("serving is refused", arguments: ["connect", "443"])
  func serving(_ network: String) throws {
    let result = try Probe.run(["--network", network], [("bind", "0"), ("bind", "8080"), ("listen", "0")])
    #expect(result.answers == [EPERM, EPERM, EPERM])
  }

  @Test("no socket gets a port of the plugin's choice, and a client still gets one from the kernel", arguments: Kernel.abis)
  func choosingPorts(_ abi: Int) throws {
    let result = try Probe.run(
      ["--network", "connect", "--landlock", "\(abi)"],
      [
        ("bind-udp", "0"), ("bind-udp", "5353"), ("bind", "8080"), ("bind-raw", "2:2:16"), ("bind-raw", "10:2:28"),
        ("bind-raw", "10:1:128"), ("bind-raw", "2:2:0x10000000c"), ("choose-port", "40000"), ("linger", ""),
        // The kernel takes no internet address that is as short as netlink's.
        ("bind-raw", "2:2:12"), ("bind-raw", "10:2:12"),
        // The twins: as the resolver does.
        ("bind-raw", "16:3:12"), ("exchange-udp", ""), ("resolve", "localhost"),
      ])
    #expect(result.answers == Array(repeating: EPERM, count: 9) + [EINVAL, EINVAL, 0, 0, 0])
  }

  @Test("a list of ports: TCP to these and to 53, no UDP")
  func ports() throws {
    let allowed = try Listener()
    let denied = try Listener()
    let result = try Probe.run(
      ["--network", "443,\(allowed.port)"],
      [
        ("connect", "\(allowed.port)"), ("connect", "\(denied.port)"), ("fast-open", "\(allowed.port)"), ("fast-open", "\(denied.port)"),
        ("connect-udp", "\(allowed.port)"), ("socket", "\(Self.inet6):\(Self.datagram):0"), ("socket", "\(Self.inet6):\(Self.stream):0"),
        ("socket", "\(Self.netlink):\(Self.raw):0"), ("resolve", "localhost"),
      ])
    #expect(result.answers == [0, EACCES, EPERM, EPERM, EPERM, EPERM, 0, 0, 0])
    #expect(try [0, ECONNREFUSED].contains(Probe.answer(["--network", "443"], "connect", "53")))
  }

  @Test("a list of ports is refused by name below ABI 4, before anything is changed", arguments: [0, 1, 2, 3])
  func portsOnOldKernels(_ abi: Int) throws {
    let result = try Probe.run(["--network", "443", "--landlock", "\(abi)"], [])
    let refused = try #require(result.refused)
    #expect(refused.contains("entitlements.network: a list of ports needs Landlock ABI 4"))
    #expect(refused.contains("this kernel has \(abi == 0 ? "none" : "\(abi)")"))
    #expect(result.nanoseconds == 0)
  }

  @Test("certificates and the resolver's files come with the entitlement, private keys do not")
  func lookups() throws {
    let files = ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl/openssl.cnf"].filter { FileManager.default.isReadableFile(atPath: $0) }
    #expect(try Probe.run(["--network", "connect"], files.map { ("read", $0) }).answers == files.map { _ in 0 })
    #expect(try Probe.run([], files.map { ("read", $0) }).answers == files.map { _ in EACCES })
    if FileManager.default.isReadableFile(atPath: "/etc/ssl/private") {
      #expect(try Probe.answer(["--network", "connect"], "list", "/etc/ssl/private") == EACCES)
    }
  }
}
