import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload

/// `UploadServer PORT FILE CUT...` keeps what is uploaded in FILE, and cuts the connection of the first upload requests after so many bytes of
/// their body each. It tells each request in a line of JSON on standard output.
@main enum UploadServer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count >= 2, let port = arguments.first.flatMap({ Int($0) }) else {
      FileHandle.standardError.write(Data("usage: UploadServer PORT FILE CUT...\n".utf8))
      exit(2)
    }
    let path = arguments[arguments.startIndex + 1]
    let cuts = Cuts(arguments.dropFirst(2).compactMap { Int($0) })
    let uploads = HTTPResumableUploadContext(origin: "http://127.0.0.1:\(port)")
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
          try pipeline.addHandler(RequestWatch(cuts))
          try pipeline.addHandler(HTTPResumableUploadHandler(context: uploads, handlers: [FileKeeper(path)]))
        }
      }
      .bind(host: "127.0.0.1", port: port).get()
    FileHandle.standardOutput.write(Data("{\"listening\":\(port)}\n".utf8))
    try await server.closeFuture.get()
  }
}
