import NIOCore
import NIOHTTP1

/// Puts a connection's handlers where they belong: the server only takes handlers that stand behind its own.
final class ConnectionInstaller: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Never

  private let connection: ConnectionHandler

  init(_ table: ConnectionTable, _ patience: ClientPatience) { connection = ConnectionHandler(table, patience) }

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    do {
      let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(connection, position: .after(parser))
      try pipeline.addHandler(ArrivalHandler(connection), position: .first)
    } catch {
      // A connection that nobody watches is none.
      context.close(promise: nil)
    }
  }
}
