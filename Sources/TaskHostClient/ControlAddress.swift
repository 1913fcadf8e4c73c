import Glibc
import NIOCore
import NIOSSL
import StrictText
import TaskModel

/// Where a host is.
package enum ControlAddress: Sendable {
  /// The path of its control socket.
  case socket(String)
  case remote(RemoteHost)

  /// How errors name it.
  package var text: String {
    switch self {
    case .socket(let path): path
    case .remote(let host): host.text
    }
  }
}

/// A host that listens on TCP.
package struct RemoteHost: Sendable {
  /// The address as it was given.
  let text: String
  /// A name, or an address without brackets.
  let host: String
  let port: Int
  /// Host and port, for the header of that name.
  let authority: String
  let token: String?
  /// nil: nothing is encrypted.
  let tls: NIOSSLContext?

  /// Whether ``host`` is the number of an address: then a certificate must have that, and no name is told to the host.
  var isNumber: Bool {
    var bytes = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
  }

  /// - Parameters:
  ///   - url: `http://HOST:PORT` or `https://HOST:PORT`.
  ///   - authority: A file of certificates in PEM, one of which the host's certificate must come from; nil: those of the system.
  package init(url: String, token: String?, certificateAuthority authority: String?) throws(TaskHostError) {
    text = String(url.prefix(300)).escapingControlCharacters
    let isTLS = url.hasPrefix("https://")
    guard isTLS || url.hasPrefix("http://"), let place = Self.place(url.dropFirst(isTLS ? 8 : 7)) else {
      throw Self.invalid(text, "is not the address of a host", "write https://HOST:PORT")
    }
    (host, port, self.authority) = (place.host, place.port ?? (isTLS ? 443 : 80), place.text)
    if let token, !HeaderText.isToken(token) { throw Self.invalid("the token", "has characters that no token has", "copy it again") }
    self.token = token
    guard isTLS else {
      tls = nil
      guard authority == nil else { throw Self.invalid(text, "is not encrypted, so no certificate is checked", "write https://") }
      return
    }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    configuration.shutdownTimeout = .seconds(1)
    if let authority { configuration.trustRoots = .certificates(try Self.certificates(in: authority)) }
    do { tls = try NIOSSLContext(configuration: configuration) } catch {
      throw Self.invalid(authority ?? text, "cannot be used for TLS", "name the file of an authority's certificates")
    }
  }

  private static func certificates(in path: String) throws(TaskHostError) -> [NIOSSLCertificate] {
    guard access(path, R_OK) == 0 else {
      throw invalid(path, "cannot be read: \(String(cString: strerror(errno)))", "name the file of an authority's certificates")
    }
    guard let certificates = try? NIOSSLCertificate.fromPEMFile(path), !certificates.isEmpty else {
      throw invalid(path, "holds no certificates in PEM", "name the file of an authority's certificates")
    }
    return certificates
  }

  private static func invalid(_ what: String, _ why: String, _ remedy: String) -> TaskHostError {
    TaskHostError(.invalid, what, why, remedy: remedy)
  }

  /// Takes `HOST:PORT` apart, an IPv6 address in brackets; nil for anything else.
  private static func place(_ rest: Substring) -> (host: String, port: Int?, text: String)? {
    let text = rest.hasSuffix("/") ? rest.dropLast() : rest
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/?#@\\\"".utf8.contains($0) }) else { return nil }
    var host = text
    var port: Int?
    if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
      guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
      (host, port) = (text[..<colon], Int(number))
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    return host.isEmpty ? nil : (String(host), port, String(text))
  }
}
