import HTTPTypes
import HummingbirdCore
import NIOCore
import StrictText
import TaskModel

extension Response {
  /// A JSON answer.
  static func json(_ writer: JSONWriter, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: writer.bytes)))
  }

  /// The answer to what the host refuses.
  static func failure(_ refusal: RequestRefusal) -> Response {
    failure(refusal.code.status, code: refusal.code.rawValue, refusal.message, field: refusal.field)
  }

  /// `{"error": {"code", "message", "field"}}`
  ///
  /// - Parameter code: For programs; final once published.
  static func failure(_ status: HTTPResponse.Status, code: String, _ message: String, field: String? = nil) -> Response {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("error")
    writer.beginObject()
    writer.member("code", code)
    writer.member("message", message)
    writer.member("field", field)
    writer.endObject()
    writer.endObject()
    return .json(writer, status: status)
  }
}

extension RequestRefusal.Code {
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .invalid: .badRequest
    case .notFound: .notFound
    case .conflict: .conflict
    case .tooBig: .contentTooLarge
    case .unknownIdentifier: .unprocessableContent
    case .limit: .tooManyRequests
    case .unsupported: .notImplemented
    case .unavailable: .serviceUnavailable
    case .internal: .internalServerError
    }
  }
}
