import HTTPTypes
import HummingbirdCore
import NIOCore

/// An answer other than success.
struct HTTPFailure: Error {
  /// The HTTP status.
  var status: HTTPResponse.Status
  /// For programs; final once published.
  var code: String
  /// What was seen and what to do.
  var message: String
  /// The field it is about.
  var field: String?
  /// What the method must be one of; for 405.
  var allowed: [String] = []
  /// Whether the connection must be closed because the body was not read.
  var closesConnection = false

  init(_ status: HTTPResponse.Status, code: String, _ message: String, field: String? = nil, allowed: [String] = []) {
    self.status = status
    self.code = code
    self.message = message
    self.field = field
    self.allowed = allowed
  }

  init(_ error: ControlError, closesConnection: Bool = false) {
    let status: HTTPResponse.Status =
      switch error.code {
      case .invalid: .badRequest
      case .notFound: .notFound
      case .conflict: .conflict
      case .tooBig: .contentTooLarge
      case .refused: .unprocessableContent
      case .limit: .tooManyRequests
      case .unsupported: .notImplemented
      case .unavailable: .serviceUnavailable
      case .internal: .internalServerError
      }
    self.init(status, code: error.code.rawValue, error.message, field: error.field)
    self.closesConnection = closesConnection
  }

  /// `{"error": {"code", "message", "field"}}`
  var response: Response {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("error")
    writer.beginObject()
    writer.member("code", code)
    writer.member("message", message)
    writer.member("field", field)
    writer.endObject()
    writer.endObject()
    var response = Response.json(writer, status: status)
    if !allowed.isEmpty { response.headers[.allow] = allowed.joined(separator: ", ") }
    if closesConnection { response.headers[.connection] = "close" }
    return response
  }
}

extension Response {
  /// A JSON answer.
  static func json(_ writer: JSONWriter, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: writer.bytes)))
  }
}
