internal import CCurl

/// A URL of HTTP, as libcurl reads it, so that nobody reads it in another way.
public struct TransferURL: Sendable, Equatable {
  /// Without a fragment.
  public let text: String
  /// `http` or `https`.
  public let scheme: String
  /// Scheme, host and port.
  public let origin: String
  /// Everything before the query.
  public let withoutQuery: String

  /// nil if it is not an absolute URL of HTTP, or has a user or a password.
  public init?(_ text: String) { self.init(text, from: nil) }

  /// The URL that a reference means here; nil as in ``init(_:)``.
  public func resolve(_ reference: String) -> TransferURL? { TransferURL(reference, from: text) }

  private init?(_ text: String, from base: String?) {
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }), let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    if let base, curl_url_set(parts, CURLUPART_URL, base, 0) != CURLUE_OK { return nil }
    let flags = UInt32(CURLU_DISALLOW_USER | CURLU_URLENCODE)
    guard curl_url_set(parts, CURLUPART_URL, text, flags) == CURLUE_OK, curl_url_set(parts, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK,
      let scheme = Self.part(CURLUPART_SCHEME, of: parts), scheme == "http" || scheme == "https",
      let host = Self.part(CURLUPART_HOST, of: parts), let port = Self.part(CURLUPART_PORT, of: parts),
      let whole = Self.part(CURLUPART_URL, of: parts), Self.part(CURLUPART_USER, of: parts) == nil
    else { return nil }
    self.text = whole
    self.scheme = scheme
    origin = "\(scheme)://\(host.lowercased()):\(port)"
    withoutQuery = origin + (Self.part(CURLUPART_PATH, of: parts) ?? "/")
  }

  /// A part of what libcurl has read: the port always, even if it is the usual one; nil if there is none.
  static func part(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    let flags = part == CURLUPART_PORT ? UInt32(CURLU_DEFAULT_PORT) : 0
    guard curl_url_get(parts, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
