import Logging
import ServiceLifecycle
import Synchronization

/// A server at a socket of its own, which is offered at a path.
final class OfferedServer: Sendable {
  private struct State {
    var isOffered = false
    var group: ServiceGroup?
  }

  let offer: OfferedSocket
  /// Where it will listen.
  let bindPath: String
  private let state = Mutex(State())

  /// The socket is bound in `directory` by whoever listens.
  init(_ directory: PrivateSocketDirectory) {
    offer = OfferedSocket(directory)
    bindPath = directory.bindPath
  }

  /// Whether it is at its path, or was.
  var isOffered: Bool { state.withLock { $0.isOffered } }

  /// It listens: moves the socket to its path. Returns whether it is there.
  func publish() -> Bool {
    let isOffered = offer.publish()
    state.withLock { $0.isOffered = isOffered }
    return isOffered
  }

  /// Serves until a graceful shutdown, or until it is retired and the answers in progress are sent.
  func run(_ server: any Service, _ logger: Logger) async throws {
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger))
    state.withLock { $0.group = group }
    try await group.run()
  }

  /// Another one has its place. Returns at once.
  func retire() {
    offer.withdraw()
    guard let group = state.withLock({ $0.group }) else { return }
    Task { await group.triggerGracefulShutdown() }
  }
}
