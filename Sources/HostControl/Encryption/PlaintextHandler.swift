import NIOCore

/// Answers clients that do not speak TLS to a port that does. It sits before TLS. Used on the connection's event loop only.
final class PlaintextHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Tells the handlers behind that the connection was refused and counted.
  struct Refused: Sendable {}

  /// The type of the record that begins a handshake.
  ///
  /// - Source: RFC 8446, 5.1.
  private static let handshake: UInt8 = 22

  private static let answer: String = {
    let body = #"{"error":{"code":"invalid","message":"this port speaks TLS: use https instead of http"}}"#
    return "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: \(body.utf8.count)\r\n"
      + "connection: close\r\n\r\n\(body)"
  }()

  private enum State {
    case waiting, passing, refusing
  }

  private let tally: HandshakeTally
  private var state = State.waiting

  init(_ tally: HandshakeTally) { self.tally = tally }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if case .waiting = state, let first = bytes.readableBytesView.first {
      state = first == Self.handshake ? .passing : .refusing
      if case .refusing = state { refuse(first, context) }
    }
    if case .passing = state { context.fireChannelRead(data) }
  }

  /// What begins with a capital letter is most likely a method of HTTP. The client then has its time to read the answer and to leave: a
  /// connection that is closed with unread bytes is reset, and the answer lost.
  private func refuse(_ first: UInt8, _ context: ChannelHandlerContext) {
    context.fireUserInboundEventTriggered(Refused())
    let isHTTP = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
    tally.fail(RemoteDoor.text(of: context.channel.remoteAddress), isHTTP ? "it speaks plain HTTP" : "what it sent is not TLS")
    guard isHTTP else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(string: Self.answer)), promise: nil)
    context.close(mode: .output, promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .refusing = state, case ChannelEvent.inputClosed? = event as? ChannelEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}

extension Channel {
  /// Closes the connection at once, on any thread. An ordinary `close` takes leave of the client first if the connection speaks TLS, and would
  /// wait for one that keeps the host waiting.
  func drop() {
    eventLoop.execute {
      guard let context = try? self.pipeline.syncOperations.context(handlerType: PlaintextHandler.self) else {
        return self.close(promise: nil)
      }
      context.close(promise: nil)
    }
  }
}
