/// Reads messages of rtnetlink from the bytes of one datagram.
///
/// The numbers are in the machine's byte order and aligned to four bytes. A truncated message ends the reading; earlier messages count.
struct RouteParser {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The messages of the datagram, and whether one of them reports a disturbed dump.
  func messages() -> (messages: [RouteMessage], interrupted: Bool) {
    var found: [RouteMessage] = []
    var interrupted = false
    var start = 0
    while let length = number(UInt32.self, at: start).map(Int.init), length >= 16, start + length <= bytes.count,
      let type = number(UInt16.self, at: start + 4), let flags = number(UInt16.self, at: start + 6)
    {
      interrupted = interrupted || flags & RouteProtocol.interrupted != 0
      found.append(message(type, start + 16..<start + length))
      start += (length + 3) & ~3
    }
    return (found, interrupted)
  }

  private func message(_ type: UInt16, _ body: Range<Int>) -> RouteMessage {
    switch type {
    case RouteProtocol.done: .done
    case RouteProtocol.error: .refused(number(Int32.self, at: body.lowerBound, in: body).map { 0 &- $0 } ?? 0)
    case RouteProtocol.overrun: .overrun
    case RouteProtocol.newLink: link(body) ?? .other
    case RouteProtocol.deleteLink: number(Int32.self, at: body.lowerBound + 4, in: body).map { .linkGone($0) } ?? .other
    case RouteProtocol.newAddress, RouteProtocol.deleteAddress: .address
    case RouteProtocol.newRoute: isOfDefaultRoute(body) ? defaultRoute(body).map { .route($0) } ?? .routeGone : .other
    case RouteProtocol.deleteRoute: isOfDefaultRoute(body) ? .routeGone : .other
    default: .other
    }
  }

  /// Reads a `struct ifinfomsg` with attributes. A bridge also reports its ports, under a family of their own, which is not about the
  /// interface.
  private func link(_ body: Range<Int>) -> RouteMessage? {
    guard let family = number(UInt8.self, at: body.lowerBound, in: body), family == 0,
      let index = number(Int32.self, at: body.lowerBound + 4, in: body),
      let flags = number(UInt32.self, at: body.lowerBound + 8, in: body), body.count >= 16
    else { return nil }
    var name = "interface \(index)"
    for attribute in attributes(body.lowerBound + 16..<body.upperBound) where attribute.type == RouteProtocol.interfaceName {
      name = String(decoding: bytes[attribute.value].prefix { $0 != 0 }, as: UTF8.self)
    }
    let wanted = RouteProtocol.up | RouteProtocol.running
    return .link(
      NetworkLink(
        index: index, name: name, isLoopback: flags & RouteProtocol.loopback != 0, isUp: flags & wanted == wanted))
  }

  /// Whether a `struct rtmsg` is about a route to everywhere, usable or not.
  private func isOfDefaultRoute(_ body: Range<Int>) -> Bool {
    guard body.count >= 12, let flags = number(UInt32.self, at: body.lowerBound + 8, in: body) else { return false }
    return number(UInt8.self, at: body.lowerBound + 1, in: body) == 0 && flags & RouteProtocol.cloned == 0
  }

  /// The default route in a `struct rtmsg` with attributes; nil if it is unusable.
  private func defaultRoute(_ body: Range<Int>) -> DefaultRoute? {
    let start = body.lowerBound
    guard let family = number(UInt8.self, at: start, in: body), let version: UInt8 = family == 2 ? 4 : family == 10 ? 6 : nil,
      let shortTable = number(UInt8.self, at: start + 4, in: body),
      number(UInt8.self, at: start + 7, in: body) == RouteProtocol.unicast,
      let flags = number(UInt32.self, at: start + 8, in: body), flags & RouteProtocol.dead == 0
    else { return nil }
    var route = DefaultRoute(version: version, table: UInt32(shortTable), metric: 0, links: [])
    for attribute in attributes(start + 12..<body.upperBound) {
      switch attribute.type {
      case RouteProtocol.routeInterface: route.links += hop(number(Int32.self, at: attribute.value.lowerBound, in: attribute.value))
      case RouteProtocol.routeMetric: route.metric = number(UInt32.self, at: attribute.value.lowerBound, in: attribute.value) ?? 0
      case RouteProtocol.routeTable:
        route.table = number(UInt32.self, at: attribute.value.lowerBound, in: attribute.value) ?? route.table
      case RouteProtocol.routeMultipath: route.links += hops(attribute.value)
      default: break
      }
    }
    return route.table == RouteProtocol.localTable ? nil : route
  }

  private func hop(_ index: Int32?) -> [Int32] { index.map { [$0] } ?? [] }

  private func hops(_ value: Range<Int>) -> [Int32] {
    var found: [Int32] = []
    var start = value.lowerBound
    while let length = number(UInt16.self, at: start, in: value).map(Int.init), length >= 8, start + length <= value.upperBound,
      let flags = number(UInt8.self, at: start + 2, in: value), let index = number(Int32.self, at: start + 4, in: value)
    {
      if UInt32(flags) & RouteProtocol.dead == 0 { found.append(index) }
      start += (length + 3) & ~3
    }
    return found
  }

  private func attributes(_ range: Range<Int>) -> [(type: UInt16, value: Range<Int>)] {
    var found: [(type: UInt16, value: Range<Int>)] = []
    var start = range.lowerBound
    while let length = number(UInt16.self, at: start, in: range).map(Int.init), length >= 4, start + length <= range.upperBound,
      let type = number(UInt16.self, at: start + 2, in: range)
    {
      // The two highest bits are flags for nesting and byte order.
      found.append((type & 0x3FFF, start + 4..<start + length))
      start += (length + 3) & ~3
    }
    return found
  }

  private func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int, in range: Range<Int>? = nil) -> Number? {
    let end = range?.upperBound ?? bytes.count
    guard offset >= 0, end - offset >= MemoryLayout<Number>.size else { return nil }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }
}
