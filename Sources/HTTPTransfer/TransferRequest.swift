/// One HTTP request, over TCP or a Unix socket, and the bounds of its answer. Printing it shows neither headers nor body.
///
/// Every transfer uses `http` or `https` only, follows no redirects, uses no proxy, netrc or cookies, and requires TLS 1.2 or later with a valid
/// certificate.
public struct TransferRequest: Sendable {
  /// `GET` without a body, unless set.
  public var method = "GET"
  /// Absolute, without user and password. With a ``socketPath``, its host is only the `Host` header.
  public var url: String
  /// In the order in which they are sent. `Host`, `Content-Length` and `Accept: */*` are added.
  public var headers: [(name: String, value: String)] = []
  /// nil sends none; `POST`, `PUT` and `PATCH` then send an empty one.
  public var body: [UInt8]?
  /// A Unix socket to connect to instead of the URL's host; at most 107 bytes.
  public var socketPath: String?
  /// Certificates in PEM that are trusted beside the system's.
  public var moreAuthorities: [UInt8]?
  /// Longest time to find the host, connect and agree on TLS.
  public var connectTimeout = Duration.seconds(5)
  /// Longest time for everything; nil sets no limit.
  public var timeout: Duration?
  /// Largest status line and headers together, in bytes.
  public var mostHeadBytes = 65_536

  /// A `GET` of this URL.
  public init(url: String) {
    self.url = url
  }

  /// Throws ``TransferFailure/invalidRequest(_:)`` for what would not arrive as it is written.
  func validate() throws(TransferFailure) {
    guard !url.isEmpty, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw .invalidRequest("the URL is empty, or has spaces or control characters")
    }
    guard Self.isToken(method) else { throw .invalidRequest("the method is no HTTP token") }
    for header in headers {
      guard Self.isToken(header.name) else { throw .invalidRequest("the name of a header is no HTTP token") }
      guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw .invalidRequest("the header \(header.name) has control characters")
      }
    }
    if let socketPath, socketPath.isEmpty || socketPath.utf8.contains(0) || socketPath.utf8.count > 107 {
      throw .invalidRequest("the path of the socket must have 1 to 107 bytes")
    }
  }

  /// Whether a text is a token, as methods and names of headers are (RFC 9110 §5.6.2).
  public static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
      }
  }
}

extension TransferRequest: CustomStringConvertible, CustomReflectable {
  /// The method alone: a URL may hold keys.
  public var description: String { "TransferRequest \(method)" }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
