import NIOCore
import Synchronization

/// The connections of one server, so that it can end them.
final class OpenConnections: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isEnding = false
    var drained: [EventLoopPromise<Void>] = []
  }

  private let state = Mutex(State())

  /// Adds a connection until it closes.
  func add(_ channel: any Channel) {
    let isEnding = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = channel
      return state.isEnding
    }
    channel.closeFuture.whenComplete { [self] _ in remove(channel) }
    if isEnding { Self.end(channel) }
  }

  private func remove(_ channel: any Channel) {
    let drained = state.withLock { state -> [EventLoopPromise<Void>] in
      state.channels[ObjectIdentifier(channel)] = nil
      guard state.channels.isEmpty else { return [] }
      defer { state.drained = [] }
      return state.drained
    }
    for promise in drained { promise.succeed() }
  }

  /// Lets the connections end with the responses in progress.
  func end() {
    let channels = state.withLock { state in
      defer { state.isEnding = true }
      return state.isEnding ? [] : Array(state.channels.values)
    }
    for channel in channels { Self.end(channel) }
  }

  private static func end(_ channel: any Channel) {
    channel.pipeline.fireUserInboundEventTriggered(RequestHandler.ServerEnds())
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }

  /// Drops the connections.
  func close() { for channel in state.withLock({ Array($0.channels.values) }) { channel.drop() } }

  /// Succeeds when no connection is open.
  func drained(on loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    let isEmpty = state.withLock { state in
      if !state.channels.isEmpty { state.drained.append(promise) }
      return state.channels.isEmpty
    }
    if isEmpty { promise.succeed() }
    return promise.futureResult
  }
}
