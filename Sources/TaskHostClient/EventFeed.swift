import Synchronization

/// Reads a host's event stream, as fast as its reader takes events: one reader at a time.
final class EventFeed: Sendable {
  /// The maximum size in bytes of a refusal to stream events.
  private static let refusalBytes = 65_536

  private struct State {
    var answer = AnswerReader()
    var parser = ServerSentEventParser()
    /// Events that were read and not taken yet, in order.
    var ready: ArraySlice<ServerSentEvent> = []
    var refusal: [UInt8] = []
    var hasEnded = false
  }

  private let connection: ControlConnection
  private let caller: ControlCaller
  private let state = Mutex(State())

  init(_ connection: ControlConnection, _ caller: ControlCaller) { (self.connection, self.caller) = (connection, caller) }

  /// Reads until the subscription has begun.
  func begin() async throws {
    while let event = try await next() { if case .comment = event { return } }
    throw caller.gone
  }

  /// The next event; nil when the host has ended. Throws `CancellationError` if the task was cancelled.
  func next() async throws -> ServerSentEvent? {
    while true {
      try Task.checkCancellation()
      let (event, hasEnded) = state.withLock { ($0.ready.popFirst(), $0.hasEnded) }
      if event != nil || hasEnded { return event }
      let bytes: [UInt8]
      do {
        bytes = try await withTaskCancellationHandler {
          try await ControlCaller.onThread("events") { [connection] in try connection.read() }
        } onCancel: { [connection] in
          connection.interrupt()
        }
      } catch {
        try Task.checkCancellation()
        throw error
      }
      try take(bytes)
    }
  }

  private func take(_ bytes: [UInt8]) throws {
    let refused: (bytes: [UInt8], status: Int)? = try state.withLock { state in
      let part = try state.answer.take(bytes)
      if state.answer.status == 200 { state.ready += state.parser.feed(part) } else { state.refusal += part }
      state.hasEnded = bytes.isEmpty || state.answer.hasEnded
      let isOver = state.hasEnded || state.refusal.count > Self.refusalBytes
      return isOver && state.answer.status != 200 && state.answer.status != 0 ? (state.refusal, state.answer.status) : nil
    }
    if let refused { throw caller.refusal(refused.bytes, status: refused.status) }
  }
}
