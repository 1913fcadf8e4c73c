import Foundation
import StrictText
import Testing

@testable import TokenRefresh

@Suite("Settings") struct SettingsTests {
  private func read(_ json: String) throws -> TokenRefreshSettings {
    try JSONDecoder().decode(TokenRefreshSettings.self, from: Data(json.utf8))
  }

  private func problems(_ json: String) -> [String] {
    do {
      _ = try read(json)
      return []
    } catch {
      return (error as? SettingsProblems)?.problems ?? ["\(error)"]
    }
  }

  private func account(_ members: String) -> String {
    #"{"accounts": [{"name": "a", "token_file": "/t/a.json", "client_id": "c", \#(members)}]}"#
  }

  @Test("what an account does not say comes from the defaults, and what they do not say is built in")
  func defaults() throws {
    let plain = try #require(try read(account(#""token_endpoint": "https://h/t""#)).accounts.first)
    #expect(plain.margin == .percent(20))
    #expect(plain.timeout == nil)
    #expect(plain.clientAuthentication == .automatic)
    let settings = try read(
      """
      {"defaults": {"margin": "5m", "timeout": "2s"}, "accounts": [
        {"name": "a", "token_file": "/t/a", "client_id": "c", "token_endpoint": "https://h/t"},
        {"name": "b", "token_file": "/t/b", "client_id": "c", "issuer": "https://h/x", "margin": "10%", "scope": "s"}]}
      """)
    #expect(settings.accounts.map(\.margin) == [.duration(.seconds(300)), .percent(10)])
    #expect(settings.accounts.map(\.timeout) == [.seconds(2), .seconds(2)])
    #expect(settings.accounts.map(\.scope) == [nil, "s"])
  }

  @Test("no settings are no accounts")
  func none() throws {
    #expect(try read("{}").accounts.isEmpty)
  }

  @Test("every problem is reported at once, unknown keys with the nearest known one")
  func allProblems() {
    let found = problems(
      """
      {"acounts": [], "defaults": {"margin": "120%"}, "accounts": [
        {"name": "a", "token_fiel": "/t/a", "client_id": 7, "issuer": "http://example.org"},
        {"name": "b", "token_file": "/t/b", "client_id": "c", "token_endpoint": "https://h/t", "client_auth": "client_secret_post"},
        {"name": "b", "token_file": "/t/b", "client_id": "c", "token_endpoint": "https://h/t", "issuer": "https://h"}]}
      """)
    let expected = [
      "unknown key \"acounts\"; did you mean \"accounts\"?",
      "defaults.margin: must be 1% to 99%, or a time such as 5m",
      "accounts[0]: unknown key \"token_fiel\"; did you mean \"token_file\"?",
      "accounts[0].token_file: is missing",
      "accounts[0].client_id: must be a string, not a number",
      "accounts[0].issuer: sends secrets unencrypted; use https (or set allow_insecure_http, if the network is trusted)",
      "accounts[1].client_auth: needs client_secret_file or client_secret_env",
      "accounts[2].issuer: conflicts with token_endpoint; keep one of them",
      "accounts[2].name: is also used by account b",
      "accounts[2].token_file: is also used by another account",
    ]
    #expect(found.sorted() == expected.sorted())
  }

  @Test(
    "addresses are refused where they would give secrets away",
    arguments: [
      ("http://example.org/t", false), ("http://127.0.0.1.example.org/t", false), ("http://localhost.example.org/", false),
      ("ftp://h/t", false), ("https://user:pw@h/t", false), ("https://h/t#f", false), ("https:///t", false), ("h/t", false),
      ("https://h/ t", false),
      ("http://localhost:8080/t", true), ("http://127.8.9.1/t", true), ("http://[::1]:1/t", true), ("https://h/t?tenant=1", true),
    ])
  func addresses(_ address: String, _ accepted: Bool) {
    #expect(problems(account(#""token_endpoint": "\#(address)""#)).isEmpty == accepted)
  }

  @Test("an address without encryption is taken where the operator allows it")
  func insecure() throws {
    #expect(problems(account(#""token_endpoint": "http://h/t", "allow_insecure_http": true"#)).isEmpty)
  }

  @Test(
    "wrong values name their place",
    arguments: [
      (#""token_endpoint": "https://h", "margin": "100%""#, "accounts[0].margin"),
      (#""token_endpoint": "https://h", "margin": "0s""#, "accounts[0].margin"),
      (#""token_endpoint": "https://h", "timeout": "11m""#, "accounts[0].timeout"),
      (#""token_endpoint": "https://h", "timeout": 10"#, "accounts[0].timeout"),
      (#""token_endpoint": "https://h", "client_secret_file": "relative""#, "accounts[0].client_secret_file"),
      (#""token_endpoint": "https://h", "client_secret_file": "/s", "client_secret_env": "S""#, "accounts[0].client_secret_env"),
      (#""token_endpoint": "https://h", "client_secret_file": "/s", "client_auth": "none""#, "accounts[0].client_auth"),
      (#""token_endpoint": "https://h", "client_auth": "private_key_jwt""#, "accounts[0].client_auth"),
      (#""issuer": "https://h?x=1""#, "accounts[0].issuer"),
      (#""scope": "s""#, "accounts[0].token_endpoint"),
    ])
  func wrong(_ members: String, _ place: String) {
    let found = problems(account(members))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix(place) == true)
  }

  @Test("settings of the wrong kind are refused", arguments: ["[]", "7", #"{"accounts": {}}"#, #"{"accounts": [7]}"#])
  func kinds(_ json: String) {
    #expect(!problems(json).isEmpty)
  }

  @Test("a payload with an unknown key or a wrong kind is refused", arguments: [#"{"acount": "a"}"#, #"{"force": 1}"#, "[]"])
  func payload(_ json: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(RefreshPayload.self, from: Data(json.utf8)) }
  }

  @Test("a payload without members means all accounts that are due")
  func emptyPayload() throws {
    #expect(try JSONDecoder().decode(RefreshPayload.self, from: Data("{}".utf8)) == RefreshPayload())
  }
}
