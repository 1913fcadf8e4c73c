internal import CCurl
import Glibc

/// A host name that must be looked up.
///
/// libcurl does not look it up: it asks for IPv6 addresses only if it may open a UDP socket, which a sandbox that lists ports denies.
struct HostName: Sendable {
  private let name: String
  private let port: String

  /// nil for an address, for an invalid URL, and for `localhost`, for which libcurl uses the loopback interface.
  init?(url: String) {
    guard let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK, let name = TransferURL.part(CURLUPART_HOST, of: parts),
      let port = TransferURL.part(CURLUPART_PORT, of: parts)
    else { return nil }
    var address = in_addr()
    let lower = name.lowercased()
    if name.hasPrefix("[") || inet_aton(name, &address) == 1 || lower == "localhost" || lower.hasSuffix(".localhost") { return nil }
    self.name = name
    self.port = port
  }

  /// Looks up the name. Blocks as long as the system's resolver does.
  ///
  /// - Returns: The value of `CURLOPT_RESOLVE`: the name, the port, and every address.
  func lookUp() throws(TransferFailure) -> String {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, nil, &hints, &list)
    guard code == 0, let list else { throw .unresolved("the host \(name) cannot be found: \(String(cString: gai_strerror(code)))") }
    defer { freeaddrinfo(list) }
    let addresses = sequence(first: list) { $0.pointee.ai_next }.compactMap { Self.text($0.pointee) }
    guard !addresses.isEmpty else { throw .unresolved("the host \(name) has no address that can be used") }
    return "\(name):\(port):\(addresses.joined(separator: ","))"
  }

  private static func text(_ found: addrinfo) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(found.ai_addr, found.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
    let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // libcurl accepts no address with an interface.
    if address.contains("%") { return nil }
    return found.ai_family == AF_INET6 ? "[\(address)]" : address
  }
}
