import NIOCore
import NIOHTTP1

/// Tells a connection's ``ConnectionHandler`` that bytes have arrived, before they are parsed.
final class ArrivalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let connection: ConnectionHandler

  init(_ connection: ConnectionHandler) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.bytesArrived()
    context.fireChannelRead(data)
  }
}
