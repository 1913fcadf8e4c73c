import HTTPTransfer
import HostControl
import NIOCore
import NIOHTTP1
import StrictText

/// Sends requests to a control socket.
struct HTTPTestClient: Sendable {
  /// What came back.
  struct Answer: Sendable {
    let head: TransferHead
    let bytes: [UInt8]
    let node: JSONNode

    var status: Int { head.status }
    /// `error.code`
    var code: String? { node["error"]?["code"]?.string }
    /// `error.field`
    var field: String? { node["error"]?["field"]?.string }
    /// `error.message`
    var message: String? { node["error"]?["message"]?.string }
    /// The bytes of a value, as sent.
    func raw(_ node: JSONNode?) -> String? { node.map { String(decoding: bytes[$0.range], as: UTF8.self) } }
  }

  /// An answer while it comes. Its connection ends when nobody reads it any more.
  typealias Parts = AsyncThrowingStream<(head: TransferHead, text: String), any Error>

  /// What URLs begin with; the socket is what counts.
  static let origin = "http://localhost"

  let socket: String

  func request(_ method: String, _ path: String) -> TransferRequest {
    var request = TransferRequest(url: Self.origin + path)
    request.method = method
    request.socketPath = socket
    request.timeout = .seconds(30)
    return request
  }

  func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
    try await send(method, path, bytes: body.map { Array($0.utf8) })
  }

  func send(_ method: String, _ path: String, bytes: [UInt8]?) async throws -> Answer {
    var request = request(method, path)
    request.body = bytes
    return try await answer(to: request)
  }

  func answer(to request: TransferRequest) async throws -> Answer {
    let answer = try await Transfer(request).onThread { transfer throws(TransferFailure) in try transfer.answer(mostBytes: 1 << 28) }
    let node = try JSONReader.read(answer.body)
    SchemaCheck.check(node, status: answer.head.status, of: request)
    return Answer(head: answer.head, bytes: answer.body, node: node)
  }

  /// The answer of `GET /v1/stream`.
  func stream(_ query: String = "") -> Parts { parts("/v1/stream\(query)") }

  /// The answer at a path, as it comes.
  func parts(_ path: String) -> Parts {
    let transfer = Transfer(request("GET", path))
    return Parts { continuation in
      continuation.onTermination = { _ in transfer.cancel() }
      Task {
        do {
          _ = try await transfer.onThread { transfer throws(TransferFailure) in
            try transfer.run { head, part in
              continuation.yield((head, String(decoding: part, as: UTF8.self)))
              return true
            }
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    }
  }
}
