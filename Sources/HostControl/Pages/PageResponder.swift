import Dashboard
import HostThreads
import Logging
import NIOCore
import NIOHTTP1
import StrictText
import TaskFilters
import TaskModel

/// Answers browsers: pages at `/` and `/ui/…`, their files and stream, and what their forms ask for.
///
/// It reads forms by the readers of the API, and asks the same host: a page shows and does nothing that the API does not.
struct PageResponder: Sendable {
  /// Largest form: a payload of the largest size, each byte as three characters, and the rest.
  static let formBytes = 3 * Limits.payloadBytes + 16_384

  /// Templates are read when the first page is asked for.
  private static let renderer = Result { try PageRenderer() }

  let api: ControlResponder
  var host: any ControlledHost { api.host }
  var now: WallTime { SystemClock().wallTime }

  /// Whether a path belongs to the dashboard.
  static func serves(_ path: String) -> Bool { path == "/" || path == "/ui" || path.hasPrefix("/ui/") }

  /// Turns errors into pages.
  func respond(to request: ControlRequest) async -> ControlResponse {
    do {
      guard PageOrigin.isServed(at: request.headers.first(name: "host")) else {
        return try failure(
          RequestRefusal(.invalid, "the dashboard is not served under this name: open it as localhost, or by the number of the address"),
          back: nil, status: .misdirectedRequest)
      }
      switch request.method {
      case .GET, .HEAD: return try await show(request)
      case .POST:
        guard PageOrigin.mayChange(request.headers) else {
          return try failure(
            RequestRefusal(
              .invalid, "the form was not sent by a page of this host, so nothing was done: programs use /v1"),
            back: "/", status: .forbidden)
        }
        return try await act(request)
      default:
        var response = try failure(
          RequestRefusal(.invalid, "pages are read with GET, and forms are sent with POST"), back: "/", status: .methodNotAllowed)
        response.headers.add(name: "allow", value: "GET, HEAD, POST")
        return response
      }
    } catch {
      let refusal = error as? RequestRefusal ?? RequestRefusal(.internal, "a defect in the host: \(error)")
      if refusal.code == .internal {
        api.logger.error("a page failed", metadata: ["path": "\(request.path)", "error": "\(refusal.message)"])
      }
      return (try? failure(refusal, back: Self.back(request))) ?? .failure(refusal)
    }
  }

  // MARK: Responses

  /// A page, or of it the parts that an open page replaces.
  ///
  /// - Parameter gap: Why its lists have only a part of what there is; nil if they have all.
  func page(
    _ page: Page, _ query: PageQuery? = nil, status: HTTPResponseStatus = .ok, gap: String? = nil
  ) throws -> ControlResponse {
    let renderer = try Self.renderer.get()
    let bytes = query?.isPart == true ? renderer.fragment(page, gap: gap) : renderer.html(page, notice: query?.done, gap: gap)
    return ControlResponse(
      status: status, headers: Self.headers(type: "text/html; charset=utf-8", caching: "no-store"), body: .bytes(ByteBuffer(bytes: bytes)))
  }

  /// Back to a page after something was done.
  func seeOther(_ path: String, _ done: PageResult, count: Int? = nil) -> ControlResponse {
    let separator = path.contains("?") ? "&" : "?"
    let address = path + separator + "done=\(done.rawValue)" + (count.map { "&count=\($0)" } ?? "")
    var headers = Self.headers(type: "text/html; charset=utf-8", caching: "no-store")
    headers.add(name: "location", value: address)
    return ControlResponse(status: .seeOther, headers: headers, body: .bytes(ByteBuffer()))
  }

  func failure(_ refusal: RequestRefusal, back: String?, status: HTTPResponseStatus? = nil) throws -> ControlResponse {
    try page(FailurePage.make(refusal, back: back, now: now), status: status ?? refusal.code.status)
  }

  /// A file of the dashboard. Browsers ask each time whether it has changed.
  func file(_ name: String, _ request: ControlRequest) throws(RequestRefusal) -> ControlResponse {
    guard let file = DashboardFile.named(name), let type = file.mediaType else { throw Self.nothing(at: request) }
    var headers = Self.headers(type: type, caching: "no-cache")
    headers.add(name: "etag", value: file.tag)
    let known = request.headers["if-none-match"].joined(separator: ",").split(separator: ",").map { $0.drop { $0 == " " } }
    let isKnown = known.contains { $0 == file.tag || $0 == "W/\(file.tag)" }
    return ControlResponse(
      status: isKnown ? .notModified : .ok, headers: headers, body: .bytes(isKnown ? ByteBuffer() : ByteBuffer(bytes: file.bytes)))
  }

  /// The stream that tells an open page to fetch its parts again.
  func changes(_ query: PageQuery) async throws -> ControlResponse {
    let reader = api.events.read(EventSelection(request: try query.id("request", ofA: "request")), after: nil, as: .changes)
    await host.settle()
    return ControlResponse(
      status: .ok, headers: Self.headers(type: "text/event-stream; charset=utf-8", caching: "no-store"), body: .events(reader))
  }

  /// Pages load nothing but their own files, run no script but their own, and are in nobody's frame.
  private static func headers(type: String, caching: String) -> HTTPHeaders {
    [
      "content-type": type, "cache-control": caching,
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff", "referrer-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    ]
  }

  static func nothing(at request: ControlRequest) -> RequestRefusal {
    RequestRefusal(.notFound, "there is nothing at \(request.path.prefix(200).description.escapingControlCharacters)")
  }

  /// The page of which an action is a part.
  private static func back(_ request: ControlRequest) -> String? {
    let parts = request.path.split(separator: "/")
    guard request.method == .POST, parts.count == 4, parts[1] == "requests" || parts[1] == "tasks" else { return nil }
    return "/" + parts.dropLast().joined(separator: "/")
  }
}
