import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization
import TaskModel

/// Reads a request's body, bounded in size. ``ConnectionClock`` bounds its time.
final class BodyReader: Sendable {
  /// Largest body of `POST /v1/requests`: a thousand requests with the largest payload there is, or 10,000 with 6 KiB each.
  static let submissionBytes = 64 * 1_048_576
  /// Largest body of any other route.
  static let otherBytes = 65_536
  /// Bodies in memory at once, all connections together, so that many large submissions cannot exhaust the host.
  private static let bytesInAll = 4 * submissionBytes

  /// How many of these bytes are left.
  private let budget = Mutex(bytesInAll)

  /// Reads the body and hands it to `use`; its memory counts against the budget until `use` returns.
  func withBody<Value: Sendable>(
    of request: Request, limit: Int, use: (consuming [UInt8]) async throws -> Value
  ) async throws -> Value {
    let tooBig = UnreadBody(refusal: RequestRefusal(.tooBig, "the body has more than \(limit) bytes: send less at once"))
    if let announced = request.headers[.contentLength].flatMap(Int.init), announced > limit { throw tooBig }
    var taken = 0
    defer { budget.withLock { $0 += taken } }
    var bytes: [UInt8] = []
    for try await part in request.body {
      let count = part.readableBytes
      guard taken + count <= limit else { throw tooBig }
      guard take(count) else {
        throw UnreadBody(refusal: RequestRefusal(.unavailable, "too many large submissions at once: try again in a second"))
      }
      taken += count
      bytes.append(contentsOf: part.readableBytesView)
    }
    return try await use(bytes)
  }

  /// Returns whether the budget has as many bytes; if not, nothing is taken.
  private func take(_ count: Int) -> Bool {
    budget.withLock { left in
      guard left >= count else { return false }
      left -= count
      return true
    }
  }
}

/// A refusal that leaves the rest of a body unread, so that its connection serves no further request.
struct UnreadBody: Error {
  let refusal: RequestRefusal
}
