import NIOCore
import NIOHTTP1
import TaskModel

/// Sends a reader's events as server-sent events (WHATWG HTML, "Server-sent events") on its connection, as fast as the client reads. Events
/// that it cannot take stay in the ``EventBacklog``.
///
/// Used on the connection's event loop only.
final class EventFlow {
  /// After it has sent events, it collects those of this time and sends them together: one system call for many events.
  private var interval: TimeAmount { .nanoseconds(reader.interval.wholeNanoseconds) }
  private let reader: EventReader
  private let context: ChannelHandlerContext
  private var sentAt = NIODeadline.uptimeNanoseconds(0)
  private var timer: Scheduled<Void>?
  private var isEnding = false
  private var isOver = false

  init(_ reader: EventReader, _ context: ChannelHandlerContext) {
    self.reader = reader
    self.context = context
  }

  /// Begins to send; the head of the response has been written.
  func begin() {
    write(ByteBuffer(string: ": subscribed\n\n"))
    context.flush()
    let flow = NIOLoopBound(self, eventLoop: context.eventLoop)
    reader.begin { [loop = context.eventLoop] in loop.execute { flow.value.wake() } }
  }

  /// There may be events.
  private func wake() {
    guard timer == nil, !isOver else { return }
    let next = sentAt + interval
    guard next > .now() else { return send() }
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [weak self] in
      self?.timer = nil
      self?.send()
    }
  }

  /// Sends what there is while the client reads.
  func send() {
    guard !isOver else { return }
    var hasSent = false
    defer {
      if hasSent {
        sentAt = .now()
        context.flush()
      }
    }
    while context.channel.isWritable {
      // Ask first: what happens before the end must be taken.
      let isLast = isEnding || reader.hasEnded
      guard let bytes = reader.take() else {
        if isLast { finish() }
        return
      }
      write(bytes)
      hasSent = true
      if reader.saysAllAtOnce {
        if isLast { finish() }
        return
      }
      // Beyond this, only a flush shows whether the client keeps up.
      if bytes.readableBytes >= EventBacklog.portion { context.flush() }
    }
  }

  /// Ends the response once everything that there is has been sent.
  func end() {
    isEnding = true
    send()
  }

  /// Gives up; the connection has gone.
  func stop() {
    isOver = true
    timer?.cancel()
    timer = nil
    reader.stop()
  }

  private func finish() {
    stop()
    context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).assumeIsolated().whenComplete { [context] _ in
      context.close(promise: nil)
    }
  }

  private func write(_ bytes: ByteBuffer) { context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))), promise: nil) }
}
