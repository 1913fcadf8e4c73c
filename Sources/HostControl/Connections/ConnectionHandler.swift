import NIOCore
import NIOHTTP1

/// Registers a connection in the ``ConnectionTable``, and closes it when its client keeps the host waiting for too long.
///
/// It sits behind the parser; ``ArrivalHandler`` reports bytes before they are parsed. Used on the connection's event loop only.
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// A timer that is later than this shows that the thread was busy.
  private static let tolerance = TimeAmount.milliseconds(100)

  private let table: ConnectionTable
  /// Whether the client is at the control socket, so that the kernel knows its user.
  private let isLocal: Bool
  private var clock: ConnectionClock
  /// Its number in the table; nil before it is admitted and after it is removed.
  private var number: Int?
  private var timer: (due: NIODeadline, task: Scheduled<Void>)?
  private var context: ChannelHandlerContext?
  private var hasBegun = false
  /// How long a connection that is to end waits for its first request: whoever has connected at the last moment gets an answer.
  var awaitsFirstRequest: TimeAmount?
  private var hasRequest = false
  /// The connection is to end, and waits for its first request.
  private var isEnding = false
  /// The handler in front of the parser.
  fileprivate weak var arrivals: ArrivalHandler?

  init(_ table: ConnectionTable, _ patience: ClientPatience, isLocal: Bool) {
    self.table = table
    self.isLocal = isLocal
    clock = ConnectionClock(patience, at: .now())
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { begin(context.channel) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelActive(context: ChannelHandlerContext) {
    begin(context.channel)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  /// The client has shown a valid token.
  func promote() { number.map(table.promote) }

  /// From now on, what arrives is dropped before it is parsed. Once `sent` is done, the client is told that nothing follows.
  func dropArrivals(after sent: EventLoopFuture<Void>) {
    arrivals?.drops = true
    sent.assumeIsolated().whenComplete { [weak self] _ in self?.arrivals?.endSending() }
  }

  func bytesArrived() { change { $0.bytesArrived(at: .now()) } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = unwrapInboundIn(data)
    change { clock in
      switch part {
      case .head: clock.headArrived(at: .now())
      case .body(let bytes): clock.bodyArrived(bytes.readableBytes)
      case .end: clock.requestArrived(at: .now())
      }
    }
    context.fireChannelRead(data)
    hasRequest = true
    if isEnding { passEnd(context) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent, let limit = awaitsFirstRequest, !hasRequest else {
      return context.fireUserInboundEventTriggered(event)
    }
    isEnding = true
    context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
      if let self, let context = self.context { passEnd(context) }
    }
  }

  private func passEnd(_ context: ChannelHandlerContext) {
    guard isEnding else { return }
    isEnding = false
    context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
    context.write(data, promise: promise)
    if isEnd { change { $0.answered(at: .now()) } }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    noteUnread(context.channel)
    context.fireChannelWritabilityChanged()
  }

  // MARK: The clock

  private func begin(_ channel: any Channel) {
    guard !hasBegun else { return }
    hasBegun = true
    let isOwn = isLocal && Peer(channel)?.isOwn ?? false
    number = table.admit(isOwn: isOwn, waitingSince: clock.waitingSince ?? .now()) { channel.drop() }
    if number == nil { channel.drop() } else { arm() }
  }

  private func end() {
    timer?.task.cancel()
    timer = nil
    context = nil
    number.map(table.remove)
    number = nil
  }

  private func change(_ change: (inout ConnectionClock) -> Void) {
    let before = clock.waitingSince
    change(&clock)
    if let number, clock.waitingSince != before { table.note(number, waitingSince: clock.waitingSince) }
    arm()
  }

  private func noteUnread(_ channel: any Channel) {
    let bytes = channel.isWritable ? nil : (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? .max
    change { $0.waitsToBeRead(bytes, at: .now()) }
  }

  /// Ensures that a timer fires no later than the deadline. A timer that fires early checks again.
  private func arm() {
    guard let context, number != nil, let deadline = clock.deadline else { return }
    if let timer, timer.due <= deadline { return }
    timer?.task.cancel()
    timer = (deadline, context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in self?.expire() })
  }

  private func expire() {
    let late = timer.map { NIODeadline.now() - $0.due } ?? .zero
    timer = nil
    guard let context else { return }
    // Bytes that arrived meanwhile have not been read yet.
    if late > Self.tolerance { change { $0.hostWasBusy(late) } }
    if !context.channel.isWritable { noteUnread(context.channel) }
    guard let deadline = clock.deadline, deadline <= .now() else { return arm() }
    context.channel.drop()
  }
}

/// Reports bytes to the connection's ``ConnectionHandler`` before they are parsed, or drops them. It sits in front of the parser.
final class ArrivalHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// A client that sends more after it was refused is not waited for.
  private static let mostDropped = BodyBudget.submissionBytes

  private let connection: ConnectionHandler
  private var context: ChannelHandlerContext?
  private var dropped = 0
  fileprivate var drops = false

  init(_ connection: ConnectionHandler) {
    self.connection = connection
    connection.arrivals = self
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard drops else {
      connection.bytesArrived()
      return context.fireChannelRead(data)
    }
    dropped += unwrapInboundIn(data).readableBytes
    if dropped > Self.mostDropped { context.channel.drop() }
  }

  /// Ends the connection's sending half. One that is closed while bytes wait to be read is reset, and the client may lose the answer.
  fileprivate func endSending() { context?.close(mode: .output, promise: nil) }
}
