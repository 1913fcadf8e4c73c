import CLibSSL
import NIOCore

/// The server's side of TLS, by the system's libssl: encrypted bytes towards the connection, plain ones towards the server.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// libssl cannot use the certificate of ``TestAuthority``.
  struct Unusable: Error {}

  private let session: OpaquePointer
  /// Owned by the session: what came, and what is to be sent.
  private let (received, pending): (OpaquePointer?, OpaquePointer?)

  /// The certificate of ``TestAuthority``; nil if libssl cannot use it. Threads may share it.
  private nonisolated(unsafe) static let settings: OpaquePointer? = {
    let settings = SSL_CTX_new(TLS_server_method())
    let (certificate, key) = (source(TestAuthority.serverCertificate), source(TestAuthority.serverKey))
    let isUsable =
      SSL_CTX_use_certificate(settings, PEM_read_bio_X509(certificate, nil, nil, nil)) == 1
      && SSL_CTX_use_PrivateKey(settings, PEM_read_bio_PrivateKey(key, nil, nil, nil)) == 1
    return isUsable ? settings : nil
  }()

  private static func source(_ text: String) -> OpaquePointer? {
    let (source, bytes) = (BIO_new(BIO_s_mem()), Array(text.utf8))
    BIO_write(source, bytes, Int32(bytes.count))
    return source
  }

  init() throws {
    guard let settings = Self.settings, let session = SSL_new(settings) else { throw Unusable() }
    self.session = session
    (received, pending) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
    SSL_set_bio(session, received, pending)
    SSL_set_accept_state(session)
  }

  deinit { SSL_free(session) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Array(unwrapInboundIn(data).readableBytesView)
    BIO_write(received, bytes, Int32(bytes.count))
    // Another test may have left errors in this thread's queue.
    ERR_clear_error()
    var plain = [UInt8](repeating: 0, count: 16_384)
    var count = SSL_read(session, &plain, Int32(plain.count))
    while count > 0 {
      context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: plain[..<Int(count)])))
      count = SSL_read(session, &plain, Int32(plain.count))
    }
    let isOver = SSL_get_error(session, count) != SSL_ERROR_WANT_READ
    context.writeAndFlush(wrapOutboundOut(encrypted()), promise: nil)
    if isOver { context.close(promise: nil) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let bytes = Array(unwrapOutboundIn(data).readableBytesView)
    if !bytes.isEmpty { SSL_write(session, bytes, Int32(bytes.count)) }
    context.write(wrapOutboundOut(encrypted()), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    SSL_shutdown(session)
    context.writeAndFlush(wrapOutboundOut(encrypted()), promise: nil)
    context.close(mode: mode, promise: promise)
  }

  /// What is to be sent now.
  private func encrypted() -> ByteBuffer {
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(pending))
    let count = BIO_read(pending, &bytes, Int32(bytes.count))
    return ByteBuffer(bytes: bytes.prefix(Int(max(0, count))))
  }
}
