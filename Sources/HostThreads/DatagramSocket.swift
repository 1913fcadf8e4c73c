import Glibc

/// Datagram sockets. Here because modules that use NIO see C's addresses of the internet as types of NIO's own C module.
public enum DatagramSocket {
  /// Opens a datagram socket at a numeric address and a port.
  ///
  /// - Returns: The descriptor; nil if `host` is no numeric address.
  public static func bound(to host: String, port: Int) throws(ErrorNumber) -> Int32? {
    let number = in_port_t(truncatingIfNeeded: port).bigEndian
    var (four, six) = (sockaddr_in(), sockaddr_in6())
    if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
      (four.sin_family, four.sin_port) = (sa_family_t(AF_INET), number)
      return try bound(AF_INET, four)
    }
    guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else { return nil }
    (six.sin6_family, six.sin6_port) = (sa_family_t(AF_INET6), number)
    return try bound(AF_INET6, six)
  }

  /// Opens a datagram socket of a family at an address.
  public static func bound<Address>(_ family: Int32, _ address: Address) throws(ErrorNumber) -> Int32 {
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw .last }
    var yes: Int32 = 1
    // Otherwise [::] would take the IPv4 port too.
    if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size)) }
    let isBound = withUnsafeBytes(of: address) { bytes in
      bytes.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) } == 0
    }
    if isBound { return descriptor }
    let error = ErrorNumber.last
    close(descriptor)
    throw error
  }

  /// The port of a socket of the internet; nil for another one.
  public static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.baseAddress.map { getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) } == 0
    }
    // The port is at the same place in IPv4 and IPv6 addresses.
    guard isKnown, [AF_INET, AF_INET6].contains(Int32(address.sin6_family)) else { return nil }
    return Int(in_port_t(bigEndian: address.sin6_port))
  }
}
