import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTPTypes

/// After how many bytes the connections of upload requests are cut, in the order of the requests.
final class Cuts: Sendable {
  private let left: NIOLockedValueBox<[Int]>

  init(_ cuts: [Int]) { left = NIOLockedValueBox(cuts) }

  /// nil if this one is not cut.
  func next() -> Int? { left.withLockedValue { $0.isEmpty ? nil : $0.removeFirst() } }
}

/// Counts what arrives and is answered, before NIOResumableUpload sees it, and cuts the connection.
final class RequestWatch: ChannelDuplexHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let cuts: Cuts
  private var request: HTTPRequest?
  private var bytes = 0
  private var cut: Int?
  private var statuses: [Int] = []
  /// `Upload-Offset` of the last answer.
  private var answered: String?

  init(_ cuts: Cuts) { self.cuts = cuts }

  private static func field(_ fields: HTTPFields, _ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      tell()
      request = head
      cut = head.method == .put || head.method == .patch ? cuts.next() : nil
    case .body(let part):
      if let cut, bytes + part.readableBytes > cut {
        // What exceeds the cut never arrived.
        let rest = cut - bytes
        if rest > 0, let slice = part.getSlice(at: part.readerIndex, length: rest) {
          bytes += rest
          context.fireChannelRead(wrapInboundOut(.body(slice)))
        }
        self.cut = 0
        context.fireChannelReadComplete()
        return context.close(promise: nil)
      }
      bytes += part.readableBytes
    case .end: break
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .head(let head) = unwrapOutboundIn(data) {
      statuses.append(head.status.code)
      answered = Self.field(head.headerFields, "Upload-Offset") ?? answered
    }
    context.write(data, promise: promise)
  }

  func channelInactive(context: ChannelHandlerContext) {
    tell()
    context.fireChannelInactive()
  }

  /// Tells the request that is over.
  private func tell() {
    guard let request else { return }
    let line: [String: Any] = [
      "method": request.method.rawValue, "path": request.path ?? "", "offset": Self.field(request.headerFields, "Upload-Offset") ?? "",
      "bytes": bytes, "statuses": statuses, "answered": answered ?? "",
    ]
    if let json = try? JSONSerialization.data(withJSONObject: line, options: [.sortedKeys]) {
      FileHandle.standardOutput.write(json + Data("\n".utf8))
    }
    (self.request, bytes, statuses, answered) = (nil, 0, [], nil)
  }
}
