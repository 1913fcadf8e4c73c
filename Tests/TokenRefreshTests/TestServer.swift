import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A real HTTP/1.1 server on a loopback port of its own, with the answers the test gives it.
final class TestServer: Sendable {
  struct Request: Sendable {
    let method: String
    let path: String
    let headers: HTTPHeaders
    let body: String

    /// Every value of a header.
    func header(_ name: String) -> [String] { headers[name] }

    /// The body's form fields, decoded.
    var form: [String: String] {
      var fields: [String: String] = [:]
      for pair in body.split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        fields[Self.decode(parts[0])] = parts.count > 1 ? Self.decode(parts[1]) : ""
      }
      return fields
    }

    private static func decode(_ text: Substring) -> String {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
          bytes.append(value)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  struct Reply: Sendable {
    var status = 200
    var headers: [(String, String)] = []
    var body = ""
    /// In place of ``body``, for what is no text.
    var bytes: [UInt8]?
    /// When given, the body is sent in chunks, and its end only after this signal.
    var end: Signal?

    static func json(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> Reply {
      Reply(status: status, headers: [("Content-Type", "application/json")] + headers, body: body)
    }
  }

  typealias Answer = @Sendable (Request) async -> Reply

  let port: Int
  private let scheme: String
  private let channel: any Channel
  private let recorded: Recorder

  var address: String { "\(scheme)://127.0.0.1:\(port)" }
  var requests: [Request] { recorded.requests.withLock { $0 } }

  /// Listens while `body` runs.
  ///
  /// - Parameter secure: Whether it speaks TLS, with the certificate of ``TestAuthority``.
  static func serving(_ answer: @escaping Answer, secure: Bool = false, _ body: (TestServer) async throws -> Void) async throws {
    let server = try await TestServer(answer, secure)
    do {
      try await body(server)
    } catch {
      try await server.channel.close()
      throw error
    }
    try await server.channel.close()
  }

  /// A loopback port that was free a moment ago, so that a connection to it is refused.
  static func refusingPort() async throws -> Int {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
    let port = channel.localAddress?.port ?? 0
    try await channel.close()
    return port
  }

  private init(_ answer: @escaping Answer, _ secure: Bool) async throws {
    scheme = secure ? "https" : "http"
    let recorder = Recorder()
    recorded = recorder
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if secure { try channel.pipeline.syncOperations.addHandler(TLSHandler()) }
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler(answer, recorder))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  private final class Recorder: Sendable {
    let requests = Mutex<[Request]>([])
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: Answer
    private let recorder: Recorder
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()

    init(_ answer: @escaping Answer, _ recorder: Recorder) {
      self.answer = answer
      self.recorder = recorder
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        self.head = head
        body.clear()
      case .body(var part):
        body.writeBuffer(&part)
      case .end:
        guard let head else { return }
        let request = Request(
          method: head.method.rawValue, path: head.uri, headers: head.headers, body: String(buffer: body))
        recorder.requests.withLock { $0.append(request) }
        Self.respond(to: request, answer, on: context.channel)
      }
    }

    private static func respond(to request: Request, _ answer: @escaping Answer, on channel: any Channel) {
      Task {
        let reply = await answer(request)
        try? await write(reply, to: channel)
      }
    }

    private static func write(_ reply: Reply, to channel: any Channel) async throws {
      var headers = HTTPHeaders(reply.headers)
      let body = reply.bytes ?? Array(reply.body.utf8)
      if reply.end == nil { headers.add(name: "Content-Length", value: "\(body.count)") }
      headers.add(name: "Connection", value: "close")
      let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)
      channel.write(HTTPServerResponsePart.head(head), promise: nil)
      try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: body)))).get()
      await reply.end?.wait()
      try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
      try await channel.close()
    }
  }
}
