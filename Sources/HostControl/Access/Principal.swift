import NIOHTTP1

/// Who sends a request, and what they may do.
enum Principal: Sendable {
  /// A client of the control socket, which may do everything: the socket's mode decides who connects. The peer is nil for requests that change
  /// nothing, and if unknown.
  case local(Peer?)
  /// A client over TCP with a token.
  case token(TokenRecord, address: String)
  /// A client over TCP that has shown no token.
  case nobody(address: String)
  /// The host itself, for a reason.
  case host(reason: String)

  /// The user at the other end of the control socket.
  var peer: Peer? { if case .local(let peer) = self { peer } else { nil } }

  /// Which identifiers they may see and change.
  var scope: AccessScope { if case .token(let token, _) = self { token.scope } else { .all } }

  /// Who it is, in words for people, without asking the system for names.
  var words: String {
    switch self {
    case .local(let peer?): "user \(peer.user)"
    case .local(nil): "a client of the control socket"
    case .token(let token, _): "token \(token.id)"
    case .nobody(let address): "a client at \(address)"
    case .host(let reason): reason
    }
  }

  /// The same, with the user's name.
  func name() async -> String {
    guard let peer else { return words }
    return await UserNames.words(for: peer.user)
  }

  /// Why they may not have a match of the router answered; nil if they may.
  func refusal(of match: RouteTable.Match) -> ControlResponse? {
    switch (self, match) {
    case (.local, _), (.host, _), (_, .otherMethods): nil
    case (_, .page): Self.pageRefusal
    case (.nobody, .route(let route, _, _)): route.role == nil ? nil : RemoteDoor.unauthorized
    case (.token(let token, _), .route(let route, _, _)): refusal(of: route, to: token)
    }
  }

  private func refusal(of route: Route, to token: TokenRecord) -> ControlResponse? {
    if let role = route.role, token.role < role {
      return .failure(
        .forbidden, code: "forbidden",
        "\(route.name) needs a token with the role \(role.rawValue); \(token.id) has \(token.role.rawValue): taskhost tokens create --role "
          + role.rawValue)
    }
    if route.isOfHost, !token.scope.isAll {
      return .failure(
        .forbidden, code: "forbidden",
        "\(route.name) concerns the whole host, and the token \(token.id) is only for \(token.scope): use a token without --identifier")
    }
    return nil
  }

  /// Browsers cannot show tokens, so pages are for the control socket only.
  private static let pageRefusal = ControlResponse.failure(
    .forbidden, code: "forbidden",
    "the dashboard is served by the control socket only: ssh -L 8080:/run/taskhost/control.sock HOST, then open http://localhost:8080; "
      + "the API is at /v1, described at /openapi.json")
}
