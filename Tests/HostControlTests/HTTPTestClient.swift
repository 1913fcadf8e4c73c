import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import StrictText

/// Sends requests to a control socket.
struct HTTPTestClient: Sendable {
  /// What came back.
  struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let bytes: [UInt8]
    let node: JSONNode

    /// `error.code`
    var code: String? { node["error"]?["code"]?.string }
    /// `error.field`
    var field: String? { node["error"]?["field"]?.string }
    /// `error.message`
    var message: String? { node["error"]?["message"]?.string }
    /// The bytes of a value, as sent.
    func raw(_ node: JSONNode?) -> String? { node.map { String(decoding: bytes[$0.range], as: UTF8.self) } }
  }

  let socket: String

  func request(_ method: String, _ path: String) -> HTTPClientRequest {
    let host = socket.split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    var request = HTTPClientRequest(url: "http+unix://\(host)\(path)")
    request.method = HTTPMethod(rawValue: method)
    return request
  }

  func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
    try await send(method, path, bytes: body.map { Array($0.utf8) })
  }

  func send(_ method: String, _ path: String, bytes: [UInt8]?) async throws -> Answer {
    var request = request(method, path)
    if let bytes { request.body = .bytes(bytes) }
    return try await answer(to: request)
  }

  func answer(to request: HTTPClientRequest) async throws -> Answer {
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    let answer = Array(try await response.body.collect(upTo: 1 << 28).readableBytesView)
    return Answer(
      status: Int(response.status.code), headers: response.headers, bytes: answer, node: try JSONReader.read(answer))
  }

  /// The response of `GET /v1/stream`, once its head is there.
  func stream(_ query: String = "") async throws -> HTTPClientResponse {
    try await HTTPClient.shared.execute(request("GET", "/v1/stream\(query)"), timeout: .seconds(30))
  }
}
