import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import TaskModel

/// `GET /v1/stream`: the host's events as server-sent events (WHATWG HTML, "Server-sent events").
struct EventStream: Sendable {
  let host: any ControlledHost
  let backlog: EventBacklog
  /// The request whose events are sent; nil: all events.
  let request: RequestID?

  /// An answer that goes on until the host, the server or the client ends.
  func response(to request: Request) async -> Response {
    // Subscribed before the head is written: what happens after the client sees the head is in the stream.
    let reader = backlog.read(
      self.request, after: HTTPField.Name.lastEventID.flatMap { request.headers[$0] }.flatMap { $0.isEmpty ? nil : $0 })
    await host.settle()
    let body = ResponseBody { writer in
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await writer.write(ByteBuffer(string: ": subscribed\n\n"))
        for await _ in reader.wakes.cancelOnGracefulShutdown() {
          // Waits here while the client does not read; what happens meanwhile waits in the backlog.
          while let bytes = reader.take() { try await writer.write(ByteBuffer(bytes: bytes)) }
        }
        try Task.checkCancellation()
        // The host has ended, or is about to: what it told before is still sent.
        while let bytes = reader.take() { try await writer.write(ByteBuffer(bytes: bytes)) }
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .connection: "close"], body: body)
  }
}

extension HTTPField.Name {
  /// The id of the last event that the client has seen. An empty one, of a client that has seen none, is as if it were not there.
  fileprivate static let lastEventID = HTTPField.Name(parsed: "last-event-id")
}
