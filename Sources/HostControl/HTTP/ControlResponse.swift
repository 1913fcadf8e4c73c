import NIOCore
import NIOHTTP1
import StrictText
import TaskModel

/// A response of the control API.
struct ControlResponse: Sendable {
  enum Body: Sendable {
    case bytes(ByteBuffer)
    /// Server-sent events, until the host, the server or the client ends.
    case events(EventReader)
  }

  var status: HTTPResponseStatus
  /// Without those that say how the body is sent.
  var headers: HTTPHeaders
  var body: Body
  /// What the audit says of the change that was made.
  var change = AuditedChange()

  /// A response with a JSON object; `write` writes its members.
  static func json(
    _ status: HTTPResponseStatus = .ok, capacity: Int = 256, _ write: (inout JSONWriter) -> Void
  ) -> ControlResponse {
    ControlResponse(
      status: status, headers: ["content-type": "application/json; charset=utf-8"],
      body: .bytes(ByteBuffer(bytes: JSONWriter.object(reservingCapacity: capacity, write))))
  }

  static func failure(_ refusal: RequestRefusal) -> ControlResponse {
    failure(refusal.code.status, code: refusal.code.rawValue, refusal.message, field: refusal.field)
  }

  /// `{"error": {"code", "message", "field"}}`
  ///
  /// A message may quote what the client sent, which may be as large as a body.
  private static let longestMessage = 16_384

  /// - Parameter code: For programs; never changed once published.
  static func failure(_ status: HTTPResponseStatus, code: String, _ message: String, field: String? = nil) -> ControlResponse {
    .json(status) {
      $0.object("error") {
        $0.member("code", code)
        $0.member("message", cut(message))
        $0.member("field", field.map(cut))
      }
    }
  }
}

extension ControlResponse {
  private static func cut(_ text: String) -> String {
    text.utf8.count <= longestMessage ? text : text.prefix(longestMessage / 4) + "…"
  }
}

extension RequestRefusal.Code {
  var status: HTTPResponseStatus {
    switch self {
    case .invalid: .badRequest
    case .forbidden: .forbidden
    case .notFound: .notFound
    case .conflict: .conflict
    case .tooBig: .payloadTooLarge
    case .unknownIdentifier: .unprocessableEntity
    case .limit: .tooManyRequests
    case .unsupported: .notImplemented
    case .unavailable: .serviceUnavailable
    case .internal: .internalServerError
    }
  }
}
