import Testing

@testable import HostConditions

@Suite("Messages of rtnetlink") struct RouteParserTests {
  private func parse(_ messages: [UInt8]...) -> [RouteMessage] { RouteParser(messages.flatMap(\.self)).messages().messages }

  @Test("an interface with its name, and whether it is up and running", arguments: [(0x1 | 0x40, true), (0x1, false), (0x40, false)])
  func link(_ flags: UInt32, _ isUp: Bool) {
    let messages = parse(ByteString.message(16, ByteString.link(index: 3, flags: flags, name: "eth0")))
    #expect(messages == [.link(NetworkLink(index: 3, name: "eth0", isLoopback: false, isUp: isUp))])
  }

  @Test("what a bridge says of its ports is not about the interface") func bridge() {
    #expect(parse(ByteString.message(16, ByteString.link(index: 3, flags: 0, name: "eth0", family: 7))) == [.other])
  }

  @Test("a default route with its interface, metric and table") func route() {
    let body = ByteString.route(table: 252, [(4, 3), (6, 600), (15, 51820)])
    #expect(parse(ByteString.message(24, body)) == [.route(DefaultRoute(version: 4, table: 51820, metric: 600, links: [3]))])
    #expect(parse(ByteString.message(25, body)) == [.routeGone])
  }

  @Test("a route over several interfaces has those that are alive") func multipath() {
    var hops = ByteString()
    hops.append(UInt16(16), UInt8(0), UInt8(0), Int32(3), UInt16(8), UInt16(5), UInt32(0x0209_000A))
    hops.append(UInt16(8), UInt8(1), UInt8(0), Int32(4))
    hops.append(UInt16(8), UInt8(0), UInt8(0), Int32(5))
    var body = ByteString()
    body.bytes = ByteString.route([])
    body.attribute(9, hops.bytes)
    #expect(parse(ByteString.message(24, body.bytes)) == [.route(DefaultRoute(version: 4, table: 254, metric: 0, links: [3, 5]))])
  }

  @Test(
    "other routes mean nothing, and default routes by which nothing can be sent are as if they were gone",
    arguments: [
      (ByteString.route(length: 24, [(4, 3)]), RouteMessage.other), (ByteString.route(flags: 0x200, [(4, 3)]), .other),
      (ByteString.route(type: 7, [(4, 3)]), .routeGone), (ByteString.route(table: 255, [(4, 3)]), .routeGone),
      (ByteString.route(flags: 1, [(4, 3)]), .routeGone), (ByteString.route(family: 28, [(4, 3)]), .routeGone), ([2, 0], .other),
    ])
  func unusable(_ body: [UInt8], _ message: RouteMessage) { #expect(parse(ByteString.message(24, body)) == [message]) }

  @Test("the end of a dump, a refusal, a loss and addresses are told apart") func control() {
    var refusal = ByteString()
    refusal.append(Int32(-95))
    let messages = parse(
      ByteString.message(3, [0, 0, 0, 0]), ByteString.message(2, refusal.bytes), ByteString.message(4, []), ByteString.message(20, []),
      ByteString.message(21, []), ByteString.message(99, []))
    #expect(messages == [.done, .refused(95), .overrun, .address, .address, .other])
  }

  @Test("a dump that was disturbed says so") func interrupted() {
    #expect(RouteParser(ByteString.message(3, flags: 0x10 | 2, [0, 0, 0, 0])).messages().interrupted)
    #expect(!RouteParser(ByteString.message(3, flags: 2, [0, 0, 0, 0])).messages().interrupted)
  }

  @Test("bytes that lie about their lengths are read as far as they go") func lies() {
    let good = ByteString.message(16, ByteString.link(index: 3, flags: 0x41, name: "eth0"))
    #expect(parse(good, [1, 2, 3]).count == 1)
    for length in 0..<good.count { #expect(RouteParser(Array(good.prefix(length))).messages().messages.isEmpty) }
    var short = good
    short[0] = 15
    #expect(parse(short).isEmpty)
    var long = good
    long[1] = 1
    #expect(parse(long).isEmpty)
  }

  @Test("no bytes break it") func random() {
    var generator = SystemRandomNumberGenerator()
    let models = [
      ByteString.message(16, ByteString.link(index: 3, flags: 0x41, name: "eth0")),
      ByteString.message(24, ByteString.route([(4, 3), (6, 600), (15, 51820)])),
    ]
    for number in 0..<50_000 {
      var bytes = models[number % 2]
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = RouteParser(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))).messages()
    }
  }
}
