import NIOCore
import NIOHTTP1
import TaskFilters
import TaskModel

/// Reads a connection's requests one after the other, has each answered, and writes the response.
///
/// The pipeline's handlers in front of it hold back a further request until the response to this one has been written, and end the
/// connection when the server ends. ``ConnectionClock`` limits the client's time. Used on the connection's event loop only.
final class RequestHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// Tells the connection that the server ends: a stream of events is to end with what it has.
  struct ServerEnds: Sendable {}

  private enum State {
    case waiting
    /// The head has arrived, and `taken` bytes of the body are counted in the budget.
    case receiving(ControlRequest, taken: Int)
    /// The response has been sent before the body was there. What is left of it is dropped unread; then the connection closes.
    case dropping(sent: EventLoopFuture<Void>)
    case answering
    case streaming(EventFlow)
    /// The last response has been written; what still arrives is ignored.
    case closing
  }

  private let responder: ControlResponder
  private let budget: BodyBudget
  private let entrance: ConnectionEntrance
  private let executor: LoopExecutor
  private let loop: any EventLoop
  private var context: ChannelHandlerContext?
  private var state = State.waiting
  private var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "")
  /// Bytes of the request's body that have arrived.
  private var arrived = 0
  private var keepsAlive = false
  private var isEnding = false

  init(_ responder: ControlResponder, _ budget: BodyBudget, _ entrance: ConnectionEntrance, on loop: any EventLoop) {
    self.responder = responder
    self.budget = budget
    self.entrance = entrance
    self.loop = loop
    executor = LoopExecutor(loop)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    entrance.leave()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    entrance.leave()
    context.fireChannelInactive()
  }

  // MARK: The request

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): begin(head, context)
    case .body(let bytes): add(bytes)
    case .end: end(context)
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    if case .closing = state { return }
    self.head = head
    arrived = 0
    keepsAlive = head.isKeepAlive
    var request = ControlRequest(head)
    state = .receiving(request, taken: 0)
    if let flaw = ControlRequest.hostFlaw(head) { return refuse(.failure(RequestRefusal(.invalid, flaw))) }
    switch entrance.principal(of: request, context.channel) {
    case .success(let principal): request.principal = principal
    case .failure(let refused): return refuse(refused.response)
    }
    state = .receiving(request, taken: 0)
    let announced = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
    guard announced <= request.arrivalLimit else { return refuse(tooBig(request)) }
    // RFC 9110, 10.1.1: not for HTTP/1.0, nor without a body.
    guard head.version == .http1_1, announced > 0 || head.headers.contains(name: "transfer-encoding"),
      head.headers.first(name: "expect")?.lowercased() == "100-continue"
    else { return }
    context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
  }

  private func add(_ bytes: ByteBuffer) {
    guard case .receiving(var request, let taken) = state else { return }
    let count = bytes.readableBytes
    arrived += count
    guard arrived <= request.arrivalLimit else { return refuse(tooBig(request)) }
    guard request.bodyLimit > 0 else {
      request.drop(bytes.readableBytesView)
      state = .receiving(request, taken: taken)
      return
    }
    guard budget.take(count) else {
      return refuse(.failure(RequestRefusal(.unavailable, "too many large submissions at once: try again in a second")))
    }
    // The state gives up its reference, so that the bytes are not copied.
    state = .waiting
    request.body.append(contentsOf: bytes.readableBytesView)
    state = .receiving(request, taken: taken + count)
  }

  private func tooBig(_ request: ControlRequest) -> ControlResponse {
    request.prompt
      ?? .failure(RequestRefusal(.tooBig, "the body has more than \(request.arrivalLimit) bytes: send less at once"))
  }

  /// Answers before the body is there. What is left of it is dropped unread, as long as the client has time for it, because it may send all before
  /// it reads the answer; then the connection closes.
  private func refuse(_ response: ControlResponse) {
    leave()
    keepsAlive = false
    guard let sent = write(response) else { return }
    state = .dropping(sent: sent)
    entrance.connection.dropArrivals(after: sent)
  }

  private func end(_ context: ChannelHandlerContext) {
    switch state {
    case .receiving(let request, let taken):
      state = .answering
      answer(request, taken: taken)
    case .dropping(let sent):
      state = .closing
      close(after: sent)
    case .waiting, .answering, .streaming, .closing: break
    }
  }

  /// The largest body that is read on the connection's own thread. Others wait for that thread: a body of 64 MiB takes seconds.
  private static let largestOnLoop = 262_144

  /// Begins at once, on this thread, and goes on here; a large body is read elsewhere.
  private func answer(_ request: ControlRequest, taken: Int) {
    let handler = NIOLoopBound(self, eventLoop: loop)
    guard taken <= Self.largestOnLoop else {
      Task { [responder, budget, loop] in
        let response = await responder.respond(to: request)
        budget.giveBack(taken)
        loop.execute { handler.value.finish(response) }
      }
      return
    }
    _ = Task.immediate(executorPreference: executor) { [responder, budget] in
      let response = await responder.respond(to: request)
      budget.giveBack(taken)
      handler.value.finish(response)
    }
  }

  // MARK: The response

  private func finish(_ response: ControlResponse) {
    guard case .answering = state else { return }
    if case .events(let reader) = response.body { return stream(reader, response) }
    // Writing the end lets a further request in.
    state = keepsAlive ? .waiting : .closing
    let keepsAlive = keepsAlive
    if let sent = write(response), !keepsAlive { close(after: sent) }
  }

  /// - Returns: When the response has been sent; nil if the connection has gone.
  private func write(_ response: ControlResponse) -> EventLoopFuture<Void>? {
    guard let context, case .bytes(let body) = response.body else { return nil }
    var headers = response.headers
    headers.add(name: "content-length", value: String(body.readableBytes))
    if !keepsAlive {
      headers.add(name: "connection", value: "close")
    } else if head.version == .http1_0 {
      headers.add(name: "connection", value: "keep-alive")
    }
    context.write(wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: response.status, headers: headers))), promise: nil)
    if head.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    return context.writeAndFlush(wrapOutboundOut(.end(nil)))
  }

  private func close(after sent: EventLoopFuture<Void>) {
    sent.assumeIsolated().whenComplete { [context] _ in context?.close(promise: nil) }
  }

  // MARK: Events

  private func stream(_ reader: EventReader, _ response: ControlResponse) {
    guard let context else { return }
    var headers = response.headers
    headers.add(name: "connection", value: "close")
    context.write(wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: response.status, headers: headers))), promise: nil)
    let flow = EventFlow(reader, context)
    state = .streaming(flow)
    flow.begin()
    if isEnding { flow.end() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if case .streaming(let flow) = state { flow.send() }
    context.fireChannelWritabilityChanged()
  }

  // MARK: The end

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ServerEnds:
      isEnding = true
      switch state {
      case .streaming(let flow): flow.end()
      // The host has drained already: what the rest of the body asks for would be refused.
      case .receiving: close(refusing: RequestRefusal(.unavailable, "the host ends: send this again when it is back"))
      case .dropping(let sent): close(after: sent)
      case .waiting, .answering, .closing: break
      }
    case ChannelEvent.inputClosed:
      // The client sends nothing more, but it may wait for the response.
      switch state {
      case .answering: keepsAlive = false
      case .dropping(let sent): close(after: sent)
      case .waiting, .receiving, .streaming: context.close(promise: nil)
      case .closing: break
      }
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  /// What is not HTTP ends the connection; the client is told if it can be.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .waiting where error is HTTPParserError, .receiving where error is HTTPParserError:
      guard !isEnding, context.channel.isActive else { return context.close(promise: nil) }
      close(
        refusing: RequestRefusal(
          .invalid,
          error as? HTTPParserError == .headerOverflow
            ? "the head of the request has more than \(HTTPServer.headBytes) bytes: a filter in an address has at most \(FilterError.longest)"
            : "this is not a request of HTTP/1.1, or its headers contradict each other"))
    case .waiting, .receiving, .dropping, .answering, .streaming, .closing: context.close(promise: nil)
    }
  }

  /// Answers with a refusal and closes the connection, whatever still arrives.
  private func close(refusing refusal: RequestRefusal) {
    leave()
    keepsAlive = false
    if let sent = write(.failure(refusal)) { close(after: sent) }
  }

  /// Gives up what the connection holds.
  private func leave() {
    switch state {
    case .receiving(_, let taken): budget.giveBack(taken)
    case .streaming(let flow): flow.stop()
    case .waiting, .dropping, .answering, .closing: break
    }
    state = .closing
  }
}
