import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import TaskModel

/// `GET /v1/stream`: the host's events as server-sent events (WHATWG HTML, "Server-sent events").
struct EventStream: Sendable {
  let host: any ControlledHost
  let backlog: EventBacklog
  /// The request whose events are sent; nil sends all events.
  let request: RequestID?

  /// An answer that lasts until the host, the server or the client ends.
  func response(to request: Request) async -> Response {
    // Subscribe before writing the head: whatever happens after the client sees the head is in the stream.
    let reader = backlog.read(
      self.request, after: HTTPField.Name.lastEventID.flatMap { request.headers[$0] }.flatMap { $0.isEmpty ? nil : $0 })
    await host.settle()
    let body = ResponseBody { writer in
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await writer.write(ByteBuffer(string: ": subscribed\n\n"))
        for await _ in reader.wakes.cancelOnGracefulShutdown() {
          // The write waits while the client does not read; meanwhile events stay in the backlog.
          while let bytes = reader.take() { try await writer.write(ByteBuffer(bytes: bytes)) }
        }
        try Task.checkCancellation()
        // The host has ended or is about to: send its last events.
        while let bytes = reader.take() { try await writer.write(ByteBuffer(bytes: bytes)) }
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .connection: "close"], body: body)
  }
}

extension HTTPField.Name {
  /// The last event that the client has seen. An empty id, from a client that has seen none, counts as absent.
  fileprivate static let lastEventID = HTTPField.Name(parsed: "last-event-id")
}
