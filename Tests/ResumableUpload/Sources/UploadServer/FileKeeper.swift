import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Writes the body of an upload into a file. NIOResumableUpload shows it one request, however many it took.
final class FileKeeper: ChannelDuplexHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPResponsePart

  private let path: String
  private var file: FileHandle?

  init(_ path: String) { self.path = path }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      _ = FileManager.default.createFile(atPath: path, contents: nil)
      file = FileHandle(forWritingAtPath: path)
    case .body(let part): try? file?.write(contentsOf: Data(part.readableBytesView))
    case .end:
      try? file?.close()
      context.write(wrapOutboundOut(.head(HTTPResponse(status: file == nil ? .internalServerError : .created))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
