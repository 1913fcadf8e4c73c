import HTTPTypes
import HummingbirdCore
import NIOCore
import TaskModel

/// Reads a request's body, bounded in size. ``ConnectionClock`` bounds its time.
struct BodyReader: Sendable {
  /// Largest body of `POST /v1/requests`: a thousand requests with the largest payload there is, or 10,000 with 6 KiB each.
  static let submissionBytes = 64 * 1_048_576
  /// Largest body of any other route.
  static let otherBytes = 65_536
  /// Bodies in memory at once, all connections together.
  static let bytesInAll = 4 * submissionBytes

  let budget: BodyBudget

  /// Reads the body and hands it to `use`; its memory counts against the budget until `use` returns.
  func withBody<Value: Sendable>(
    of request: Request, limit: Int, use: (consuming [UInt8]) async throws -> Value
  ) async throws -> Value {
    let tooBig = UnreadBody(refusal: RequestRefusal(.tooBig, "the body has more than \(limit) bytes: send less at once"))
    if let announced = request.headers[.contentLength].flatMap(Int.init), announced > limit { throw tooBig }
    var taken = 0
    defer { budget.giveBack(taken) }
    var bytes: [UInt8] = []
    for try await part in request.body {
      let count = part.readableBytes
      guard taken + count <= limit else { throw tooBig }
      guard budget.take(count) else {
        throw UnreadBody(refusal: RequestRefusal(.unavailable, "too many large submissions at once: try again in a second"))
      }
      taken += count
      bytes.append(contentsOf: part.readableBytesView)
    }
    return try await use(bytes)
  }
}

/// A refusal that leaves the rest of a body unread, so that its connection serves no further request.
struct UnreadBody: Error {
  let refusal: RequestRefusal
}
