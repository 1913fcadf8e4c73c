import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycle
import TaskModel

/// `GET /v1/stream`: the host's events as server-sent events (WHATWG HTML, "Server-sent events").
struct EventStream: Sendable {
  let host: any ControlledHost
  let filter: EventFilter
  /// A client that does not read for so long is dropped.
  let writeLimit: TimeAmount

  /// An answer that goes on until the host, the server or the client ends.
  func response(to request: Request, on channel: any Channel) async -> Response {
    // Subscribed before the head is written: what happens after the client sees the head is in the stream.
    let events = await host.events(filter)
    let body = ResponseBody { writer in
      try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await writer.write(ByteBuffer(string: ": subscribed\n\n"))
        for await event in events.cancelOnGracefulShutdown() {
          try await write(ByteBuffer(bytes: Self.encode(event)), to: &writer, on: channel)
        }
        try Task.checkCancellation()
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .connection: "close"], body: body)
  }

  /// Suspends while the client does not read; a deadline is only armed then.
  private func write(_ bytes: ByteBuffer, to writer: inout any ResponseBodyWriter, on channel: any Channel) async throws {
    if channel.isWritable { return try await writer.write(bytes) }
    let late = channel.eventLoop.scheduleTask(in: writeLimit) { channel.close(promise: nil) }
    defer { late.cancel() }
    try await writer.write(bytes)
  }

  /// `event: NAME`, `data: JSON` on one line, an empty line.
  static func encode(_ event: HostEvent) -> [UInt8] {
    var writer = JSONWriter()
    let name: String
    switch event {
    case .request(let record):
      name = "request"
      writer.request(record, singleLine: true)
    case .run(let record):
      name = "run"
      writer.run(record, singleLine: true)
    case .progress(let run, let request, let progress):
      name = "progress"
      writer.beginObject()
      writer.member("run", run.description)
      writer.member("request", request.description)
      writer.progress(progress)
      writer.endObject()
    case .log(let run, let request, let line):
      name = "log"
      writer.beginObject()
      writer.member("run", run.description)
      writer.member("request", request.description)
      writer.name("line")
      writer.logLine(line)
      writer.endObject()
    }
    return Array("event: \(name)\ndata: ".utf8) + writer.bytes + Array("\n\n".utf8)
  }
}
