import ControlTestSupport
import HTTPTransfer
import RecordJSON
import StrictText
import Synchronization
import TaskModel

@testable import HostControl

/// A control server that listens on a port of loopback too, with a token file of its own.
struct RemoteFixture: Sendable {
  let directory: String
  let port: Int
  /// The certificate of a server that speaks TLS.
  let certificate: CertificateKeeper?
  /// Tells the server that the token file may have changed.
  let changed: @Sendable () -> Void

  var socket: String { directory + "/control.sock" }
  var file: TokenFile { TokenFile(path: directory + "/tokens") }

  /// Runs `body` while a server for `host` listens.
  static func with(
    _ host: any ControlledHost, names: [String] = [], redact: [String] = [], certificate: CertificateKeeper? = nil,
    patience: ClientPatience = ClientPatience(),
    _ body: @escaping @Sendable (RemoteFixture) async throws -> Void
  ) async throws {
    try await ControlFixture.withDirectory { directory in
      let port = Mutex(0)
      let watches = Mutex<[String: @Sendable () -> Void]>([:])
      let remote = RemoteAccess(host: "127.0.0.1", port: 0, tokenFile: directory + "/tokens", names: names, certificate: certificate)
      let watch: ControlServer.Watch = { path, changed in watches.withLock { $0[path] = changed } }
      let state = State(port: { port.withLock { $0 } }, changed: { watches.withLock { $0[directory + "/tokens"] }?() })
      try await ControlFixture.serve(
        host, on: ControlSocket(path: directory + "/control.sock"), remote: remote, auditDirectory: directory,
        redaction: PayloadRedaction(redact.compactMap(PayloadRedaction.Pattern.init)), watch: watch,
        changing: {
          $0.onRemoteListening = { found in port.withLock { $0 = found } }
          $0.patience = patience
        }
      ) {
        try await body(RemoteFixture(directory: directory, port: state.port(), certificate: certificate, changed: state.changed))
      }
    }
  }

  private struct State: Sendable {
    let port: @Sendable () -> Int
    let changed: @Sendable () -> Void
  }

  /// A client with a new token.
  func client(_ role: AccessRole, _ patterns: String...) throws -> RemoteClient {
    let token = try ControlToken.make()
    let record = TokenRecord(
      of: token, role: role, scope: AccessScope(try patterns.map { try IdentifierPattern($0) }),
      created: WallTime(unixMilliseconds: 1_700_000_000_000))
    try file.change { $0.append(record) }
    changed()
    return RemoteClient(port: port, scheme: scheme, authorization: "Bearer \(token.text)", id: token.id)
  }

  /// A client that shows what `authorization` says, or nothing.
  func stranger(_ authorization: String? = nil) -> RemoteClient {
    RemoteClient(port: port, scheme: scheme, authorization: authorization, id: "")
  }

  private var scheme: String { certificate == nil ? "http" : "https" }
}

/// Sends requests over TCP.
struct RemoteClient: Sendable {
  let port: Int
  let scheme: String
  let authorization: String?
  /// Its token's.
  let id: String
  var headers: [(name: String, value: String)] = []
  /// The authority that it trusts, in PEM.
  var authority: [UInt8]?

  func request(_ method: String, _ path: String) -> TransferRequest {
    var request = TransferRequest(url: "\(scheme)://127.0.0.1:\(port)\(path)")
    request.method = method
    request.moreAuthorities = authority
    request.headers = headers + (authorization.map { [("Authorization", $0)] } ?? [])
    request.timeout = .seconds(30)
    return request
  }

  func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> HTTPTestClient.Answer {
    var request = request(method, path)
    request.body = body.map { Array($0.utf8) }
    let answer = try await Transfer(request).onThread { transfer throws(TransferFailure) in try transfer.answer(mostBytes: 1 << 24) }
    let node = try JSONReader.read(answer.body)
    request.url = HTTPTestClient.origin + path
    SchemaCheck.check(node, status: answer.head.status, of: request)
    return HTTPTestClient.Answer(head: answer.head, bytes: answer.body, node: node)
  }
}
