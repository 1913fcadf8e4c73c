import NIOHTTP1

/// Whether a browser's request comes from the dashboard itself. Other sites can send requests to it and to the API too, through a tunnel to
/// the socket, and have their names lead to it.
enum PageOrigin {
  /// Whether the page or form may be answered at the address that the browser was given.
  ///
  /// A site whose name leads to this machine (DNS rebinding) is of the same origin for the browser. So no name but localhost is served:
  /// a tunnel or a proxy is opened as `localhost` or by its number.
  static func isServed(at host: String?) -> Bool {
    guard let host else { return true }
    if host.hasPrefix("[") { return true }
    let name = host.prefix { $0 != ":" }.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost") || name.allSatisfy { $0 == "." || $0.isASCII && $0.isNumber }
  }

  /// Whether the API may be answered at this name. Programs use any; browsers are led here by names that have a dot.
  ///
  /// - Parameter names: Names with a dot that the operator lets clients use, in lower case.
  static func mayReach(_ host: String?, as names: [String] = []) -> Bool {
    isServed(at: host)
      || host.map { host in
        let name = host.prefix { $0 != ":" }.lowercased()
        return !name.contains(".") || names.contains(name)
      } ?? true
  }

  /// Whether a request may change something by the API: it comes from a program, which has no origin, or from a page of this host.
  static func mayCall(_ headers: HTTPHeaders) -> Bool {
    headers["sec-fetch-site"].isEmpty && headers["origin"].isEmpty || mayChange(headers)
  }

  /// Whether a form may change something: browsers say where it was sent from.
  ///
  /// - Source: OWASP, Cross-Site Request Forgery Prevention: Fetch Metadata, else the origin.
  static func mayChange(_ headers: HTTPHeaders) -> Bool {
    let sites = headers["sec-fetch-site"]
    guard sites.isEmpty else { return sites == ["same-origin"] || sites == ["none"] }
    let (origins, hosts) = (headers["origin"], headers["host"])
    guard origins.count == 1, hosts.count == 1, let scheme = origins[0].firstRange(of: "://") else { return false }
    return origins[0][scheme.upperBound...].lowercased() == hosts[0].lowercased()
  }
}
