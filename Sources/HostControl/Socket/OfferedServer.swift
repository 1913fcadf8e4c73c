import Logging
import ServiceLifecycle
import Synchronization

/// A server with its own socket, which is offered at a path.
final class OfferedServer: Sendable {
  private struct State {
    var isOffered = false
    var group: ServiceGroup?
  }

  let offer: OfferedSocket
  let bindPath: String
  private let state = Mutex(State())

  /// The server binds the socket in `directory`.
  init(_ directory: PrivateSocketDirectory) {
    offer = OfferedSocket(directory)
    bindPath = directory.bindPath
  }

  /// Whether the socket is or was at its path.
  var isOffered: Bool { state.withLock { $0.isOffered } }

  /// Moves the listening socket to its path; returns whether it is there.
  func publish() -> Bool {
    let isOffered = offer.publish()
    state.withLock { $0.isOffered = isOffered }
    return isOffered
  }

  /// Serves until a graceful shutdown, or until it is retired and has sent its answers.
  func run(_ server: any Service, _ logger: Logger) async throws {
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger))
    state.withLock { $0.group = group }
    try await group.run()
  }

  /// Another server has taken over. Returns at once.
  func retire() {
    offer.withdraw()
    guard let group = state.withLock({ $0.group }) else { return }
    Task { await group.triggerGracefulShutdown() }
  }
}
