import StrictText

/// Turns the settings' JSON into validated accounts, and reports all problems at once.
enum SettingsReader {
  static let topKeys = ["accounts", "defaults"]
  static let defaultKeys = ["margin", "timeout", "allow_insecure_http", "ca_file"]
  static let accountKeys = [
    "name", "token_file", "client_id", "client_secret_file", "client_secret_env", "client_auth", "private_key_file", "private_key_id",
    "assertion_audience", "token_endpoint", "issuer", "scope", "redirect_uri", "audience", "resource", "parameters", "headers", "ca_file",
    "margin", "timeout", "allow_insecure_http",
  ]

  static func read(_ value: JSONValue) throws(SettingsProblems) -> TokenRefreshSettings {
    var top = SettingsTable(value == .null ? .object([:]) : value, at: "", known: topKeys)
    var defaults = SettingsTable(top.value("defaults") ?? .object([:]), at: "defaults", known: defaultKeys)
    let common = Common(&defaults, else: Common())
    var problems: [String] = []
    var accounts: [Account] = []
    let list = top.array("accounts")
    if list.count > TokenRefreshSettings.mostAccounts {
      top.report("accounts", "has \(list.count) entries, more than \(TokenRefreshSettings.mostAccounts)")
    }
    for (index, value) in list.enumerated() {
      var table = SettingsTable(value, at: "accounts[\(index)]", known: accountKeys)
      if let account = account(&table, common) {
        if accounts.contains(where: { $0.name == account.name }) { table.report("name", "is also used by account \(account.name)") }
        if accounts.contains(where: { $0.tokenFile == account.tokenFile }) { table.report("token_file", "is also used by another account") }
        accounts.append(account)
      }
      problems += table.problems
    }
    problems = top.problems + defaults.problems + problems
    if !problems.isEmpty { throw SettingsProblems(problems) }
    return TokenRefreshSettings(accounts: accounts)
  }

  private static func account(_ table: inout SettingsTable, _ common: Common) -> Account? {
    let common = Common(&table, else: common)
    let name = table.requiredText("name")
    if let name, name.utf8.count > 128 || name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      table.report("name", "must be at most 128 bytes, without control characters")
    }
    let tokenFile = path(&table, "token_file", required: true)
    let clientID = table.requiredText("client_id")
    let secret = secret(&table)
    let authentication = authentication(&table)
    let server = server(&table, common)
    let scope = table.text("scope")
    let parameters = RequestFields.parameters(&table)
    let headers = RequestFields.headers(&table)
    guard let name, let tokenFile, let clientID, let server else { return nil }
    return Account(
      name: name, tokenFile: tokenFile, clientID: clientID, clientSecret: secret, clientAuthentication: authentication, server: server,
      scope: scope, parameters: parameters, headers: headers, certificateAuthorities: common.certificateAuthorities, margin: common.margin,
      timeout: common.timeout, allowInsecureHTTP: common.allowInsecureHTTP)
  }

  fileprivate static func path(_ table: inout SettingsTable, _ key: String, required: Bool) -> String? {
    guard let path = required ? table.requiredText(key) : table.text(key) else { return nil }
    guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
      table.report(key, "must be the absolute path of a file")
      return nil
    }
    // Leaves room for the prefix and suffix in the names of the lock and the temporary file.
    if path.utf8.count > 4000 || path.split(separator: "/").contains(where: { $0.utf8.count > 200 }) {
      table.report(key, "is too long: a name in it may have 200 bytes, the whole path 4000")
    }
    return path
  }

  private static func secret(_ table: inout SettingsTable) -> Account.SecretSource? {
    let file = path(&table, "client_secret_file", required: false)
    let variable = table.text("client_secret_env")
    let key = path(&table, "private_key_file", required: false)
    let present = ["client_secret_file", "client_secret_env", "private_key_file"].filter { table.value($0) != nil }
    if present.count > 1 { table.report(present[1], "conflicts with \(present[0]); keep one of them") }
    return (file ?? key).map { .file($0) } ?? variable.map { .environment($0) }
  }

  private static func authentication(_ table: inout SettingsTable) -> Account.ClientAuthentication {
    let hasSecret = table.value("client_secret_file") != nil || table.value("client_secret_env") != nil
    let hasKey = table.value("private_key_file") != nil
    let key = Account.ClientAuthentication.privateKey(id: table.text("private_key_id"), audience: table.text("assertion_audience"))
    if !hasKey {
      for name in ["private_key_id", "assertion_audience"] where table.value(name) != nil { table.report(name, "needs private_key_file") }
    }
    switch table.text("client_auth") {
    case nil: return hasKey ? key : .automatic
    case "none":
      if hasSecret || hasKey { table.report("client_auth", "is none, but a client secret or key is set; leave one of them out") }
      return .none
    case "client_secret_basic", "client_secret_post":
      if !hasSecret { table.report("client_auth", "needs client_secret_file or client_secret_env") }
      return table.text("client_auth") == "client_secret_basic" ? .basic : .post
    case "private_key_jwt":
      if !hasKey { table.report("client_auth", "needs private_key_file") }
      return key
    case _?:
      table.report("client_auth", "must be client_secret_basic, client_secret_post, private_key_jwt or none")
      return .automatic
    }
  }

  private static func server(_ table: inout SettingsTable, _ common: Common) -> Account.Server? {
    let present = ["token_endpoint", "issuer"].filter { table.value($0) != nil }
    guard let key = present.first else {
      table.report("token_endpoint", "is missing; set it or issuer")
      return nil
    }
    if present.count == 2 { table.report("issuer", "conflicts with token_endpoint; keep one of them") }
    guard let text = table.text(key) else { return nil }
    do {
      let url = try EndpointURL(text, allowInsecureHTTP: common.allowInsecureHTTP)
      guard key == "issuer" else { return .tokenEndpoint(url) }
      if url.hasQuery { table.report(key, "contains a query (?…); an issuer has none") }
      return .issuer(url)
    } catch {
      table.report(key, error.reason)
      return nil
    }
  }

  /// The settings that the defaults and an account have in common.
  private struct Common {
    var margin = RefreshMargin.percent(20)
    var timeout: Duration?
    var allowInsecureHTTP = false
    var certificateAuthorities: String?

    init() {}

    init(_ table: inout SettingsTable, else common: Common) {
      self = common
      if let text = table.text("margin") {
        if let margin = RefreshMargin(text: text) {
          self.margin = margin
        } else {
          table.report("margin", "must be 1% to 99%, or a time such as 5m")
        }
      }
      if let text = table.text("timeout") {
        if let timeout = Duration(text: text), (.milliseconds(100) ... .seconds(600)).contains(timeout) {
          self.timeout = timeout
        } else {
          table.report("timeout", "must be a time from 100ms to 10m, such as 10s")
        }
      }
      if let flag = table.flag("allow_insecure_http") { allowInsecureHTTP = flag }
      if let file = SettingsReader.path(&table, "ca_file", required: false) { certificateAuthorities = file }
    }
  }
}

/// The plugin's validated settings. Without settings, there are no accounts and a run has nothing to do.
struct TokenRefreshSettings: Sendable, Equatable {
  /// The maximum number of accounts of one instance, so that all fit into a run's output.
  static let mostAccounts = 100

  var accounts: [Account] = []
}

extension TokenRefreshSettings: Decodable {
  /// - Throws: ``SettingsProblems`` with every problem at once.
  init(from decoder: any Decoder) throws {
    self = try SettingsReader.read(try JSONValue(from: decoder))
  }
}
