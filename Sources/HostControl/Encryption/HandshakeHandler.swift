import NIOCore
import NIOSSL
import NIOTLS

/// Counts a connection whose handshake fails. It sits behind TLS. Used on the connection's event loop only.
final class HandshakeHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let tally: HandshakeTally
  private var isSettled = false
  /// The client's; a connection that has ended has none any more.
  private var address = "unknown"

  init(_ tally: HandshakeTally) { self.tally = tally }

  func channelActive(context: ChannelHandlerContext) {
    address = RemoteDoor.text(of: context.channel.remoteAddress)
    context.fireChannelActive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { isSettled = true }
    // Not counted twice.
    if event is PlaintextHandler.Refused { isSettled = true }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    settle("\(error)")
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    settle("it left, or its time was over")
    context.fireChannelInactive()
  }

  private func settle(_ reason: String) {
    guard !isSettled else { return }
    isSettled = true
    tally.fail(address, reason)
  }
}
