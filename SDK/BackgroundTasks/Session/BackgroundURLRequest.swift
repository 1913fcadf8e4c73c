public import Foundation

/// What a background session asks a server for: `URLRequest` as far as a background session uses it. (`URLRequest` itself belongs to
/// FoundationNetworking on Linux, which a plugin would have to carry along with an HTTP client that it does not use.)
public struct BackgroundURLRequest: Sendable, Hashable {
  /// `https://` or `http://`.
  public var url: URL?
  /// `PUT` (default), `POST` or `PATCH` of an upload. A download is always a GET.
  public var httpMethod: String?
  /// The headers.
  public var allHTTPHeaderFields: [String: String]?
  /// Whether it may use a metered network. Default: true.
  public var allowsExpensiveNetworkAccess = true

  /// Creates a request.
  public init(url: URL) { self.url = url }

  /// Sets a header; `nil` removes it.
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    allHTTPHeaderFields = (allHTTPHeaderFields ?? [:]).filter { $0.key.lowercased() != field.lowercased() }
    if let value { allHTTPHeaderFields?[field] = value }
  }
}
