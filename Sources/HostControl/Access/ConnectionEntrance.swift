import NIOCore
import NIOHTTP1

/// Says of each request of one connection who sends it. Used on the connection's event loop only.
final class ConnectionEntrance {
  /// nil for a connection of the control socket.
  private let door: RemoteDoor?
  let connection: ConnectionHandler
  /// The token that the connection's last request showed, and its number at the door.
  private var entered: (token: TokenRecord, number: Int)?

  init(_ door: RemoteDoor?, _ connection: ConnectionHandler) { (self.door, self.connection) = (door, connection) }

  /// Who sends a request whose head has arrived; or the answer that refuses it before its body is read.
  func principal(of request: ControlRequest, _ channel: any Channel) -> Result<Principal, RemoteDoor.RefusedEntry> {
    let match = try? request.route.get()
    guard let door else { return .success(.local(match?.isChange == true ? Peer(channel) : nil)) }
    return door.admit(request.headers, from: channel.remoteAddress).flatMap { principal in
      enter(principal, channel, door)
      if case .nobody = principal, let denial = match.flatMap(principal.refusal) { return .failure(RemoteDoor.RefusedEntry(denial)) }
      return .success(principal)
    }
  }

  private func enter(_ principal: Principal, _ channel: any Channel, _ door: RemoteDoor) {
    guard case .token(let token, _) = principal, token != entered?.token else { return }
    leave()
    entered = (token, door.tokens.enter(token) { channel.drop() })
    connection.promote()
  }

  /// The connection has gone.
  func leave() {
    if let entered { door?.tokens.leave(entered.number) }
    entered = nil
  }
}
