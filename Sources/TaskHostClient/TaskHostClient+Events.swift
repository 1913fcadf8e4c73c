extension TaskHostClient {
  /// Something that happened on the host.
  public struct Event: Sendable, Hashable {
    /// `request`, `run`, `progress`, `work`, `log` or `assertion`; `missed` after events that the reader was too slow for: then ask for the
    /// present state.
    public let name: String
    /// What the host says of it, as JSON: see `GET /v1/stream`.
    public let json: [UInt8]
  }

  /// The events of one subscription, read as they are asked for. One task reads them, once; it ends with the host.
  public struct Events: AsyncSequence, Sendable {
    private let stream: AsyncThrowingStream<ServerSentEvent, any Error>

    init(_ stream: AsyncThrowingStream<ServerSentEvent, any Error>) { self.stream = stream }

    /// Reads on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream.makeAsyncIterator()) }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private var stream: AsyncThrowingStream<ServerSentEvent, any Error>.AsyncIterator

      fileprivate init(_ stream: AsyncThrowingStream<ServerSentEvent, any Error>.AsyncIterator) { self.stream = stream }

      /// The next event; nil when the host has ended.
      ///
      /// - Throws: ``TaskHostError``.
      public mutating func next() async throws -> Event? {
        do {
          while let event = try await stream.next() {
            if case .event(let name, let data) = event { return Event(name: name, json: data) }
          }
          try Task.checkCancellation()
          return nil
        } catch { throw TaskHostError(error) }
      }
    }
  }
}
