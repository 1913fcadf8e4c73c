import Foundation
public import StrictText
import Testing

@testable import TokenRefresh

/// A folder of token files, settings for them, and a host. Every run's texts are searched for secrets.
final class Fixture: Sendable {
  static let accessToken = "ACCESS-old-5d41402abc4b"
  static let refreshToken = "REFRESH-old/7d793037a076+="
  static let clientSecret = "S3cret & co:ü"
  static let newAccessToken = "ACCESS-new-acbd18db4cc2"
  static let newRefreshToken = "REFRESH-new-37b51d194a75"
  static let secrets = [accessToken, refreshToken, clientSecret, newAccessToken, newRefreshToken]

  /// An answer with a new access token, good for an hour, and a new refresh token.
  static let rotation = """
    {"access_token": "\(newAccessToken)", "refresh_token": "\(newRefreshToken)", "token_type": "Bearer", "expires_in": 3600}
    """
  /// The same, but the refresh token stays.
  static let noRotation = #"{"access_token": "\#(newAccessToken)", "token_type": "Bearer", "expires_in": 3600}"#

  let folder: String
  let host: TestHost

  init(host: TestHost = TestHost()) throws {
    folder = NSTemporaryDirectory() + "token-refresh-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.host = host
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  func path(_ name: String) -> String { folder + "/" + name }

  /// A token file that ends `seconds` from now, of a lifetime of an hour.
  func signIn(_ name: String = "tokens.json", expiresIn seconds: Int = 60, extra: String = "") throws {
    let expires = Int(host.now.timeIntervalSince1970) + seconds
    try write(
      """
      {"access_token": "\(Self.accessToken)", "refresh_token": "\(Self.refreshToken)", "token_type": "Bearer",
       "expires_at": \(expires), "issued_at": \(expires - 3600)\(extra.isEmpty ? "" : ", " + extra)}
      """, to: name)
  }

  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
  }

  func text(_ name: String = "tokens.json") throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
  }

  func members(_ name: String = "tokens.json") throws -> [String: JSONValue] {
    try JSONDecoder().decode([String: JSONValue].self, from: Data(try text(name).utf8))
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
  }

  /// Settings of one account; members and tables given replace or extend the usual ones, an empty text removes one.
  func account(_ name: String = "mail", endpoint: String, _ members: [String: String] = [:], also tables: [String: JSONValue] = [:])
    -> [String: JSONValue]
  {
    var account: [String: JSONValue] = [
      "name": .string(name), "token_file": .string(path(name == "mail" ? "tokens.json" : name + ".json")), "client_id": "client 1",
      "token_endpoint": .string(endpoint), "timeout": "5m",
    ]
    account.merge(members.mapValues(JSONValue.string)) { $1 }
    account.merge(tables) { $1 }
    return account.filter { $0.value != "" }
  }

  func refresher(_ accounts: [[String: JSONValue]]) throws -> TokenRefresher {
    let settings = try JSONDecoder().decode(TokenRefreshSettings.self, from: try JSONEncoder().encode(["accounts": accounts]))
    return TokenRefresher(
      settings: settings, secrets: ClientSecretReader(environment: { $0 == "TEST_SECRET" ? Self.clientSecret : nil }))
  }

  /// One run; then no secret is found in anything but the token files.
  @discardableResult
  func run(_ accounts: [[String: JSONValue]], _ payload: RefreshPayload = RefreshPayload()) async throws -> RefreshReport {
    let refresher = try refresher(accounts)
    let report = await refresher.run(payload, host: host)
    try expectNoSecrets(report, refresher)
    return report
  }

  func expectNoSecrets(_ report: RefreshReport, _ refresher: TokenRefresher) throws {
    let state = host.state.values.map { String(decoding: $0, as: UTF8.self) }
    var dumped = ""
    dump(refresher, to: &dumped)
    dump(report, to: &dumped)
    let texts = host.log + state + [report.message, String(decoding: try report.output(limit: 65_536), as: UTF8.self), dumped]
    for text in texts + host.payloads.map({ "\($0)" }) {
      for secret in Self.secrets + Self.secrets.map({ FormEncoding.encode($0) }) {
        #expect(!text.contains(secret))
      }
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension RefreshReport {
  /// The result of the only account.
  var only: AccountReport? { accounts.count == 1 ? accounts.first : nil }
}
