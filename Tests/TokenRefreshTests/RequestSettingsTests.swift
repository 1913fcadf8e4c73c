import Foundation
import StrictText
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("What settings add to a request") struct RequestSettingsTests {
  @Test("redirect_uri, audience, resource, parameters and headers reach the server, and leave the plugin nowhere else")
  func added() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let key = "K3Y-of-the-application"
    try await TestServer.serving({ request in
      request.header("trakt-api-key") == [key] ? .json(Fixture.rotation) : .json(#"{"error": "no \#(key)"}"#, status: 403)
    }) { server in
      let account = fixture.account(
        endpoint: server.address, ["redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "audience": "https://api.example.org"],
        also: [
          "resource": .array(["https://one.example", "https://two.example"]),
          "parameters": .object(["tenant": "a b"]), "headers": .object(["trakt-api-version": "2", "trakt-api-key": .string(key)]),
        ])
      let outcome = try await fixture.run([account]).outcome
      #expect(outcome == .success)
      let request = try #require(server.requests.first)
      #expect(request.form["redirect_uri"] == "urn:ietf:wg:oauth:2.0:oob")
      #expect(request.form["audience"] == "https://api.example.org")
      #expect(request.form["tenant"] == "a b")
      #expect(request.body.contains("resource=https%3A%2F%2Fone.example&resource=https%3A%2F%2Ftwo.example"))
      #expect(request.header("trakt-api-version") == ["2"])

      try fixture.signIn()
      let other = account.merging(["headers": .object(["trakt-api-key": .string(key + "!")])]) { $1 }
      let report = try await fixture.run([other])
      #expect(report.only?.result == .retry)
      #expect(!report.message.contains(key + "!"))
    }
  }

  @Test(
    "short values, and those that look like what is kept between runs, garble no message and no state",
    arguments: [
      ["trakt-api-version": "2", "n": "1"], ["x-key": "isTroubled", "y-key": "notBefore"],
      ["x-key": "fingerprint", "y-key": "\"refusal\""],
    ])
  func values(_ headers: [String: String]) async throws {
    let fixture = try Fixture()
    for name in ["dead", "busy"] { try fixture.signIn(name + ".json") }
    try await TestServer.serving({ request in
      request.path == "/dead"
        ? .json(#"{"error": "invalid_grant"}"#, status: 400) : .json("", status: 429, headers: [("Retry-After", "121")])
    }) { server in
      let fields = JSONValue.object(headers.mapValues(JSONValue.string))
      let accounts = [
        fixture.account("dead", endpoint: server.address + "/dead", also: ["headers": fields]),
        fixture.account("busy", endpoint: server.address + "/busy", also: ["parameters": fields]),
      ]
      let first = try await fixture.run(accounts)
      #expect(first.message.contains("the server answered 429"))
      let kept = fixture.host.state
      fixture.host.advance(by: 1)
      let second = try await fixture.run(accounts)
      #expect(second.message.contains("no request for another 120 s"))
      #expect(second.message.contains("dead is signed out: invalid_grant"))
      #expect(fixture.host.state == kept)
      #expect(server.requests.map(\.path).sorted() == ["/busy", "/dead"])
      #expect(!fixture.host.log.contains { $0.contains("cannot be read") })
    }
  }

  @Test("addresses of the settings are no secrets, keys are, in either table")
  func keys() throws {
    let json = #"""
      {"accounts": [{"name": "a", "token_file": "/t", "client_id": "c", "token_endpoint": "https://h", "audience": "https://api.example.org",
        "redirect_uri": "urn:ietf:wg:oauth:2.0:oob", "resource": "https://one.example", "parameters": {"k": "12345678", "n": "1234567"},
        "headers": {"x-key": "abcdefgh", "x-version": "2"}}]}
      """#
    let settings = try JSONDecoder().decode(TokenRefreshSettings.self, from: Data(json.utf8))
    let account = try #require(settings.accounts.first)
    #expect((account.parameters + account.headers).compactMap { $0.secret?.reveal() } == ["12345678", "abcdefgh"])
  }

  @Test(
    "what the plugin sets itself is refused, with the key that sets it",
    arguments: [
      (#""parameters": {"client_secret": "s"}"#, "parameters.client_secret: is not for this table; use client_secret_file"),
      (#""parameters": {"redirect_uri": "s"}"#, "use redirect_uri"), (#""parameters": {"x": 1}"#, "parameters.x: must be a string"),
      (#""parameters": []"#, "parameters: must be an object"), (#""headers": {"Authorization": "x"}"#, "headers.Authorization"),
      (#""headers": {"X-A": "x", "x-a": "y"}"#, "headers.x-a: is the same header as X-A"),
      (#""headers": {"a b": "x"}"#, "not a valid HTTP header name"), (#""headers": {"a": "x\r\ny: z"}"#, "control characters"),
      (#""resource": [7]"#, "resource: must be"), (#""ca_file": "relative""#, "ca_file: must be the absolute path"),
      (#""private_key_id": "k""#, "private_key_id: needs private_key_file"),
      (#""private_key_file": "/k", "client_secret_file": "/s""#, "private_key_file: conflicts with client_secret_file"),
      (#""client_auth": "private_key_jwt""#, "client_auth: needs private_key_file"),
    ])
  func refused(_ members: String, _ problem: String) {
    let json = #"{"accounts": [{"name": "a", "token_file": "/t", "client_id": "c", "token_endpoint": "https://h", \#(members)}]}"#
    #expect {
      try JSONDecoder().decode(TokenRefreshSettings.self, from: Data(json.utf8))
    } throws: { error in
      "\(error)".contains(problem)
    }
  }

  @Test(
    "private_key_jwt sends an assertion that the public key verifies, for the endpoint or the audience that is set",
    arguments: [nil, "https://issuer.example"])
  func assertion(_ audience: String?) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let key = try TestKey()
    try fixture.write(key.pem, to: "client.pem")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let account = fixture.account(
        endpoint: server.address,
        ["private_key_file": fixture.path("client.pem"), "private_key_id": "key-1", "assertion_audience": audience ?? ""])
      let outcome = try await fixture.run([account]).outcome
      #expect(outcome == .success)
      let form = try #require(server.requests.first).form
      #expect(form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
      #expect(form["client_secret"] == nil)
      let parts = try #require(form["client_assertion"]).split(separator: ".").map(String.init)
      #expect(parts.count == 3)
      let header = try JSONDecoder().decode([String: String].self, from: Self.decode(parts[0]))
      #expect(header == ["alg": "ES256", "kid": "key-1", "typ": "JWT"])
      let claims = try JSONDecoder().decode([String: JSONValue].self, from: Self.decode(parts[1]))
      #expect(claims["iss"] == "client 1")
      #expect(claims["sub"] == "client 1")
      #expect(claims["aud"] == .string(audience ?? server.address))
      #expect(claims["exp"] == .integer(Int64(TestHost.start.timeIntervalSince1970) + 300))
      #expect(key.verifies(Array(try Self.decode(parts[2])), of: Array((parts[0] + "." + parts[1]).utf8)))
    }
  }

  @Test("a key is found behind what OpenSSL writes before it, and between what is no key")
  func keyAmongOthers() throws {
    // As `openssl ecparam -name prime256v1 -genkey` writes it; made for this test.
    let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    let block = """
      -----BEGIN EC PRIVATE KEY-----
      MHcCAQEEII1agy1f4Oal05+FDIvia6g+h9/sQVq4hwVoguGy6N+JoAoGCCqGSM49
      AwEHoUQDQgAETcetkjogjJwU/sIOHleaFUr8jO37LZgKIWe+1+u08WRzHRDVHw/M
      FzzW85An3e/iMcfJLMjnJA3MwY/AiJTRyA==
      -----END EC PRIVATE KEY-----

      """
    let unusable = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    let key = try TestKey(pem: block)
    for text in [
      parameters + block, (parameters + block).replacing("\n", with: "\r\n"), "Bag Attributes\n" + TestAuthority.certificate + "\n" + block,
      unusable + block + unusable,
    ] {
      let assertion = try ClientAssertion.make(clientID: "c", audience: "a", key: Secret(text), keyID: nil, now: TestHost.start)
      let parts = assertion.reveal().split(separator: ".").map(String.init)
      #expect(key.verifies(Array(try Self.decode(parts[2])), of: Array((parts[0] + "." + parts[1]).utf8)))
    }
    for text in [parameters, unusable, "", "-----BEGIN EC PRIVATE KEY-----"] {
      #expect(throws: ClientAssertion.Unusable.self) {
        try ClientAssertion.make(clientID: "c", audience: "a", key: Secret(text), keyID: nil, now: TestHost.start)
      }
    }
  }

  @Test("a private key that cannot be read is called a private key")
  func noKey() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    let report = try await fixture.run([
      fixture.account(endpoint: "http://127.0.0.1:1/", ["private_key_file": fixture.path("absent.pem")])
    ])
    #expect(report.only?.result == .failed)
    #expect(report.message.contains("private key: "))
    #expect(!report.message.contains("client secret"))
  }

  @Test("tokens that a refusal brings, other secrets of the token file and keys in the endpoint's query are shown nowhere")
  func otherSecrets() async throws {
    let fixture = try Fixture()
    // Words, so that only the search for known secrets can find them.
    let secrets = ["brought by refusal", "kept identity proof", "kept client phrase", "key+in+the+query"]
    try fixture.signIn(
      extra: #""id_token": "\#(secrets[1])", "google": {"client_secret": "\#(secrets[2])"}, "token_uri": "not a secret at all""#)
    try await TestServer.serving({ _ in
      .json(
        #"""
        {"error": "invalid_grant", "error_description": "\#(secrets.joined(separator: "; ")); not a secret at all", "refresh_token": "\#(secrets[0])"}
        """#, status: 400)
    }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address + "/token?api_key=" + secrets[3])])
      let state = fixture.host.state.values.map { String(decoding: $0, as: UTF8.self) }
      for text in [report.message, try fixture.text("tokens.json.signed-out")] + state + fixture.host.log {
        for secret in secrets { #expect(!text.contains(secret)) }
      }
      #expect(report.message.contains("not a secret at all"))
    }
  }

  @Test("a key that cannot sign fails the account, and nobody is asked")
  func wrongKey() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try fixture.write("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", to: "client.pem")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: server.address, ["private_key_file": fixture.path("client.pem")])])
      #expect(report.only?.result == .failed)
      #expect(report.message.contains("RSA key of at least 2048 bits"))
      #expect(server.requests.isEmpty)
    }
  }

  @Test("ca_file makes a private authority trusted; without it the server is not")
  func privateAuthority() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try fixture.write(TestAuthority.certificate + "\n", to: "ca.pem")
    try await TestServer.serving({ _ in .json(Fixture.rotation) }, secure: true) { server in
      let untrusting = try await fixture.run([fixture.account(endpoint: server.address)])
      #expect(untrusting.only?.result == .retry)
      #expect(untrusting.message.contains("TLS certificate is not valid"))
      let account = fixture.account(endpoint: server.address, ["ca_file": fixture.path("ca.pem")])
      let outcome = try await fixture.run([account]).outcome
      #expect(outcome == .success)
      try fixture.signIn()
      let empty = try await fixture.run([account.merging(["ca_file": .string(fixture.path("tokens.json"))]) { $1 }])
      #expect(empty.message.contains("contains no PEM certificate"))
    }
  }

  private static func decode(_ text: String) throws -> Data {
    let standard = text.replacing("-", with: "+").replacing("_", with: "/")
    return try #require(Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)))
  }
}
