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

  /// How many bytes of its body may arrive. A small one that nobody needs does no harm.
  var arrivalLimit: Int { bodyLimit > 0 ? bodyLimit : BodyBudget.otherBytes }

  /// Why it cannot be answered whatever its body is; nil if the body decides.
  var prompt: ControlResponse? {
    if case .failure(let refusal) = route { return .failure(refusal) }
    return denial
  }

  /// Whether it says to which host it goes, and to one only; otherwise a sentence.
  ///
  /// - Source: RFC 9112, 3.2.
  static func hostFlaw(_ head: HTTPRequestHead) -> String? {
    let count = head.headers["host"].count
    guard count > 1 || count == 0 && head.version != .http1_0 else { return nil }
    return "a request of HTTP/1.1 has one header Host, and this one has \(count == 0 ? "none" : "\(count)"): send one"
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
