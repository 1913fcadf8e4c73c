import Foundation
import TaskHostSDK
import Testing

@testable import TokenRefresh

@Suite("Discovery") struct DiscoveryTests {
  @Test(
    "the endpoint comes from the issuer's metadata, fetched once a run",
    arguments: ["/.well-known/oauth-authorization-server/tenant/1", "/tenant/1/.well-known/openid-configuration"])
  func metadata(_ place: String) async throws {
    let fixture = try Fixture()
    for name in ["a", "b"] { try fixture.signIn(name + ".json") }
    try await TestServer.serving({ request in
      let base = "http://" + (request.header("Host").first ?? "")
      if request.path == "/token" { return .json(Fixture.rotation) }
      guard request.path == place else { return .json("", status: 404) }
      return .json(
        """
        {"issuer": "\(base)/tenant/1", "token_endpoint": "\(base)/token",
         "token_endpoint_auth_methods_supported": ["client_secret_post"]}
        """)
    }) { server in
      let issuer = ["issuer": server.address + "/tenant/1", "client_secret_env": "TEST_SECRET"]
      let report = try await fixture.run(["a", "b"].map { fixture.account($0, endpoint: "", issuer) })
      #expect(report.outcome == .success)
      #expect(server.requests.count { $0.path == place } == 1)
      // The server takes secrets only in the form, so that is where it goes.
      #expect(server.requests.last?.form["client_secret"] == Fixture.clientSecret)
    }
  }

  @Test(
    "metadata that cannot be trusted fails the account, and no secret is sent",
    arguments: [
      (#"{"issuer": "http://127.0.0.1:1", "token_endpoint": "BASE/token"}"#, "another issuer"),
      (#"{"issuer": "BASE/", "token_endpoint": "BASE/token"}"#, "another issuer"),
      (#"{"token_endpoint": "BASE/token"}"#, "another issuer"),
      (#"{"issuer": "BASE"}"#, "no token_endpoint"),
      (#"{"issuer": "BASE", "token_endpoint": "http://example.org/token"}"#, "unencrypted"),
    ])
  func untrusted(_ body: String, _ reason: String) async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ request in
      .json(body.replacing("BASE", with: "http://" + (request.header("Host").first ?? "")))
    }) { server in
      let report = try await fixture.run([fixture.account(endpoint: "", ["issuer": server.address])])
      #expect(report.outcome == .failure)
      #expect(report.message.contains(reason))
      #expect(server.requests.allSatisfy { $0.method == "GET" })
    }
  }

  @Test("metadata that cannot be had for now is a retry, and none at all a failure")
  func unavailable() async throws {
    let fixture = try Fixture()
    try fixture.signIn()
    try await TestServer.serving({ _ in .json("", status: 503, headers: [("Retry-After", "7")]) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: "", ["issuer": server.address])])
      #expect(report.outcome == .retry(after: .seconds(7)))
    }
    fixture.host.advance(by: 8)
    try await TestServer.serving({ _ in .json("", status: 404) }) { server in
      let report = try await fixture.run([fixture.account(endpoint: "", ["issuer": server.address])])
      #expect(report.outcome == .failure)
      #expect(report.message.contains("has no metadata"))
    }
  }
}
