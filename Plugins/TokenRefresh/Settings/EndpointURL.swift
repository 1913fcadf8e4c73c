import FoundationEssentials

/// The validated address of a token endpoint or an issuer: `https`, or `http` if allowed; a host; no user, password or fragment.
struct EndpointURL: Sendable, Hashable {
  let text: String
  /// Scheme, host, port and path: safe for a log. A query is omitted, because it may contain keys.
  let display: String
  let path: String
  let hasQuery: Bool
  /// Whether its host is the machine itself. No names are resolved.
  let isLoopback: Bool

  /// - Throws: The problem, as a sentence that follows the address's name.
  init(_ text: String, allowInsecureHTTP: Bool) throws(Problem) {
    guard
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      let host = parts.host, !host.isEmpty
    else { throw Problem(reason: "is not an absolute URL; write https://HOST/PATH") }
    guard parts.user == nil, parts.password == nil else { throw Problem(reason: "contains a user or password; use client_secret_file") }
    guard parts.fragment == nil else { throw Problem(reason: "contains a fragment (#…); leave it out") }
    isLoopback = Self.isLoopback(host)
    switch scheme {
    case "https": break
    case "http" where allowInsecureHTTP || isLoopback: break
    case "http": throw Problem(reason: "sends secrets unencrypted; use https (or set allow_insecure_http, if the network is trusted)")
    default: throw Problem(reason: "has the scheme \(scheme); use https")
    }
    self.text = text
    path = parts.percentEncodedPath
    hasQuery = parts.percentEncodedQuery != nil
    display = scheme + "://" + Self.bracketed(host) + (parts.port.map { ":\($0)" } ?? "") + parts.percentEncodedPath
  }

  var origin: String { String(display.dropLast(path.utf8.count)) }

  /// The query's values that may be keys; see ``Account/Field/shortestKey``.
  var secrets: [Secret] {
    text.split(separator: "?", maxSplits: 1).dropFirst().flatMap { query in
      query.split(separator: "&").compactMap { pair in
        let value = pair.split(separator: "=", maxSplits: 1).last ?? ""
        return value.utf8.count < Account.Field.shortestKey ? nil : Secret(String(value))
      }
    }
  }

  private static func bracketed(_ host: String) -> String {
    host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  }

  /// Whether the host is `localhost`, 127.0.0.0/8 in four numbers, or `::1`. Resolves no names.
  private static func isLoopback(_ host: String) -> Bool {
    if host.lowercased() == "localhost" || host == "::1" || host == "[::1]" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }
}
