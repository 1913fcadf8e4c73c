import StrictText

/// One HTTP request, over TCP or a Unix socket, and the limits of its answer. Printing it shows neither headers nor body.
///
/// Every transfer uses `http` or `https` only, uses no proxy, netrc or cookies, and requires TLS 1.2 or later with a valid certificate.
public struct TransferRequest: Sendable {
  /// The method, by default `GET` without a body.
  public var method = "GET"
  /// An absolute URL without user and password. With a ``socketPath``, its host only sets the `Host` header.
  public var url: String
  /// Sent in this order. `Host`, `Content-Length` and `Accept: */*` are added.
  public var headers: [(name: String, value: String)] = []
  /// nil sends no body, except an empty one with `POST`, `PUT` and `PATCH`.
  public var body: [UInt8]?
  /// A file to send as the body, instead of ``body``.
  public var upload: Upload?
  /// The size of the buffer for the answer in bytes, at least 16 KiB: a larger one is faster, a smaller one keeps to a slow rate more
  /// evenly.
  public var bufferSize = 64 << 10
  /// The transfer fails when fewer than 10 bytes a second have arrived or left for that time; nil sets no limit.
  public var stallTimeout: Duration?
  /// A Unix socket to connect to instead of the URL's host; at most 107 bytes.
  public var socketPath: String?
  /// Certificates in PEM to trust besides the system's.
  public var moreAuthorities: [UInt8]?
  /// Time limit to find the host, connect and agree on TLS.
  public var connectTimeout = Duration.seconds(5)
  /// Time limit of the whole transfer; nil sets none.
  public var timeout: Duration?
  /// Maximum size of the status line and headers together, in bytes.
  public var mostHeadBytes = 65_536

  /// A body that is read from an open file while it is sent.
  public struct Upload: Sendable {
    /// The file, open for reading; its position is not used. The caller closes it after the transfer.
    public var descriptor: Int32
    /// The first byte to send.
    public var start: Int64
    /// The number of bytes to send.
    public var size: Int64
    /// Whether it must not be sent twice without the caller's knowledge. When a connection that was kept breaks before any answer, libcurl
    /// sends the request again, since the server may just have closed it. So such a body gets a connection of its own.
    public var isSentOnce: Bool

    /// Creates a body.
    public init(descriptor: Int32, start: Int64 = 0, size: Int64, isSentOnce: Bool = false) {
      self.descriptor = descriptor
      self.start = start
      self.size = size
      self.isSentOnce = isSentOnce
    }
  }

  /// Creates a `GET` of this URL.
  public init(url: String) {
    self.url = url
  }

  /// Throws ``TransferFailure/invalidRequest(_:)`` if the request could not be sent exactly as given.
  func validate() throws(TransferFailure) {
    guard !url.isEmpty, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw .invalidRequest("the URL is empty, or has spaces or control characters")
    }
    guard HeaderText.isName(method) else { throw .invalidRequest("the method is not an HTTP token") }
    for header in headers {
      guard HeaderText.isName(header.name) else { throw .invalidRequest("the name of a header is not an HTTP token") }
      guard HeaderText.isValue(header.value) else {
        throw .invalidRequest("the header \(header.name) has control characters")
      }
    }
    if let socketPath, socketPath.isEmpty || socketPath.utf8.contains(0) || socketPath.utf8.count > 107 {
      throw .invalidRequest("the path of the socket must have 1 to 107 bytes")
    }
  }

  private static let harmless: Set<String> = [
    "accept", "accept-encoding", "accept-language", "content-type", "if-range", "range", "upload-complete", "upload-draft-interop-version",
    "upload-offset", "user-agent",
  ]

  /// Whether a header says nothing about who asks, so that it may leave the origin (scheme, host, port) that the request was meant for.
  public static func isHarmless(_ name: String) -> Bool { harmless.contains(name.lowercased()) }
}

extension TransferRequest: CustomStringConvertible, CustomReflectable {
  /// Shows the method only, because a URL may contain keys.
  public var description: String { "TransferRequest \(method)" }
  /// Without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
