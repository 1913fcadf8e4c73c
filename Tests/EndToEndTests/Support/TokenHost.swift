import Foundation
import TestSupport
import Testing

/// A host with the plugin of tokens, which may use the folder `tokens`, and an OAuth server of its own.
struct TokenHost: Sendable {
  static let identifier = "org.taskhost.token-refresh"

  let host: HostProcess
  let port: UInt16

  /// Gives `body` a host with one account, `mail`, whose token file is not there yet.
  static func run(_ configuration: String = "", starts: Bool = true, _ body: (TokenHost) async throws -> Void) async throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/Servers/token_server.py").path
    let (ports, told) = AsyncStream.makeStream(of: String.self)
    let server = try Program("/usr/bin/python3", [script], onErrorLine: { told.yield($0) })
    defer { server.send(SIGKILL) }
    var lines = ports.makeAsyncIterator()
    let line = await lines.next() ?? "none"
    let port = try #require(UInt16(line), "\(line) is no port")
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libTokenRefresh.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTokenRefresh.so"))))
      try host.directory.folder("tokens")
      try host.configure(
        """
        \(configuration)
        [command."test.waiter"]
        run = ["cat"]

        [plugin."\(identifier)".entitlements]
        network = "connect"
        write = ["\(host.directory("tokens"))"]

        [[plugin."\(identifier)".settings.accounts]]
        name = "mail"
        token_file = "\(host.directory("tokens/mail.json"))"
        client_id = "desktop"
        token_endpoint = "http://127.0.0.1:\(port)/token"

        """)
      if starts { try await host.start() }
      try await body(TokenHost(host: host, port: port))
    }
  }

  /// A program that prints what an address answers, and asks no proxy.
  private static let ask = """
    import sys, urllib.request as request
    opener = request.build_opener(request.ProxyHandler({}))
    print(opener.open(sys.argv[1], timeout=30).read().decode())
    """

  var file: String { host.directory("tokens/mail.json") }

  /// Puts a token file in place, as a program that signs in does.
  ///
  /// - Parameter seconds: Until the access token expires, of a lifetime of an hour.
  func signIn(_ name: String = "first", expiresIn seconds: Int = 3600) throws {
    let expiry = Int(Date().timeIntervalSince1970) + seconds
    let text = """
      {"access_token": "ACCESS-\(name)", "refresh_token": "REFRESH-\(name)", "expires_at": \(expiry), "issued_at": \(expiry - 3600)}
      """
    let temporary = host.directory("tokens/new")
    try Data(text.utf8).write(to: URL(filePath: temporary))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: temporary)
    guard rename(temporary, file) == 0 else { throw TestFailure("rename: errno \(errno)") }
  }

  var accessToken: String? {
    get throws {
      let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
      return object?["access_token"] as? String
    }
  }

  /// The number of exchanges that the server has seen, after telling it something.
  @discardableResult func server(_ path: String = "/log") async throws -> Int {
    let answer = try await onThread {
      try Program.finish(["/usr/bin/python3", "-c", Self.ask, "http://127.0.0.1:\(port)\(path)"])
    }
    return Int(try #require(try JSON(parsing: answer.output)["requests"]?.integer, "\(answer.errors)"))
  }

  /// The live request with a key of the plugin's own.
  func own(_ key: String) async throws -> JSON? {
    try await host.json("tasks", "list", "--identifier", Self.identifier)["requests"]?.array.first {
      $0["unique_key"]?.string == key && $0["state"]?.string == "pending"
    }
  }

  /// A request that waits for an event, and then writes the event's payload to its log.
  func waiting(for event: String) async throws -> String {
    let result = try await host.cli("submit", "test.waiter", "--on-event", event, "--json")
    guard result.status == 0 else { throw TestFailure("submit: \(result.errors)") }
    return try #require(try result.json()["id"]?.string)
  }
}
