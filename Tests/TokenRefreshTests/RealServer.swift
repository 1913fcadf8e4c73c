import Foundation
import TestSupport
import Testing

/// An authorization server from the Python Package Index, in a process of its own: `make token-servers` installs them.
final class RealServer: Sendable {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case django, authlib, canaille

    var testDescription: String { rawValue }
  }

  /// What a server says of itself.
  struct Facts: Decodable, Sendable {
    let address: String
    let token_endpoint: String?
    let issuer: String?
    let client_id: String
    let client_secret: String
    /// Whether a second use of a refresh token revokes the tokens that came from the first.
    let detects_reuse: Bool
  }

  struct Tokens: Decodable, Sendable {
    let access_token: String
    let refresh_token: String
  }

  /// The Python interpreter that has the servers; nil if they are not installed.
  static let python = ProcessInfo.processInfo.environment["TASKHOST_TOKEN_SERVERS"]

  let facts: Facts
  private let program: Program

  private init(_ program: Program, _ facts: Facts) {
    self.program = program
    self.facts = facts
  }

  static func start(_ kind: Kind) async throws -> RealServer {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/TokenServers/\(kind.rawValue)_server.py").path
    let (lines, told) = AsyncStream.makeStream(of: String.self)
    let program = try Program(try #require(python), [script], onErrorLine: { told.yield($0) })
    for await line in lines {
      if let facts = try? JSONDecoder().decode(Facts.self, from: Data(line.utf8)) { return RealServer(program, facts) }
    }
    throw TestFailure("the server told no address")
  }

  deinit { program.send(SIGKILL) }

  /// A new pair of tokens.
  func signIn() async throws -> Tokens {
    try JSONDecoder().decode(Tokens.self, from: Data(try await get("/test/sign-in").body.utf8))
  }

  /// Whether the server takes an access token.
  func takes(_ token: String) async throws -> Bool {
    let status = try await get("/test/whoami", bearer: token).status
    guard status == 200 || status == 401 else { throw TestFailure("whoami: \(status ?? 0)") }
    return status == 200
  }

  private static let ask = """
    import sys, urllib.error, urllib.request as web
    opener = web.build_opener(web.ProxyHandler({}))
    request = web.Request(sys.argv[1])
    if len(sys.argv) > 2: request.add_header("Authorization", "Bearer " + sys.argv[2])
    try: answer = opener.open(request, timeout=30)
    except urllib.error.HTTPError as error: answer = error
    print(answer.status)
    print(answer.read().decode())
    """

  private func get(_ path: String, bearer: String? = nil) async throws -> (status: Int?, body: String) {
    let command = [try #require(Self.python), "-c", Self.ask, facts.address + path] + (bearer.map { [$0] } ?? [])
    let result = try await onThread { try Program.finish(command) }
    let lines = result.output.split(separator: "\n", maxSplits: 1)
    return (lines.first.flatMap { Int($0) }, lines.count > 1 ? String(lines[1]) : result.errors)
  }
}
