import NIOHTTP1
import TaskModel

/// A request to the control API, with its whole body.
struct ControlRequest: Sendable {
  let method: HTTPMethod
  /// As the client sent it, percent-encoded.
  let path: String
  /// The part after the question mark; nil if there is none.
  let query: String?
  let headers: HTTPHeaders
  /// What the method and the path ask for.
  let route: Result<RouteTable.Match, RequestRefusal>
  var body: [UInt8] = []
  /// Whether a body came that says something although the route takes none.
  private(set) var hasStrayBody = false
  /// Who sends it.
  var principal = Principal.local(nil)

  init(_ head: HTTPRequestHead) {
    let target = Self.originForm(of: head.uri[...]).split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(target[0])
    self.path = path
    query = target.count == 2 ? String(target[1]) : nil
    method = head.method
    headers = head.headers
    route = Result { [method] () throws(RequestRefusal) in try RouteTable.control.find(method, path) }
  }

  /// Why whoever sends it may not have it answered; nil if they may.
  var denial: ControlResponse? {
    guard case .success(let match) = route else { return nil }
    return principal.refusal(of: match)
  }

  /// How many bytes of its body are read; 0 if its route takes no body or it is refused anyway, and whatever comes is dropped.
  var bodyLimit: Int {
    guard case .success(let match) = route, denial == nil else { return 0 }
    return match.bodyLimit
  }

  /// Looks at a part of a body that is dropped. Blanks and an empty object say nothing.
  mutating func drop(_ part: some Sequence<UInt8>) {
    guard !hasStrayBody else { return }
    hasStrayBody = part.contains { byte in
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "{"), UInt8(ascii: "}"): false
      default: true
      }
    }
  }

  /// The path and query of a target that may be a whole URL.
  ///
  /// - Source: RFC 9112, 3.2.2: a server accepts the absolute form.
  private static func originForm(of target: Substring) -> Substring {
    guard target.first != "/", let scheme = target.firstRange(of: "://") else { return target }
    let rest = target[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
  }
}
