import StrictText

enum RequestFields {
  /// Parameters that this plugin writes itself, each with the key that sets it.
  private static let owned: [String: String] = [
    "grant_type": "nothing: it is always refresh_token", "refresh_token": "token_file", "client_id": "client_id",
    "client_secret": "client_secret_file or client_secret_env", "client_assertion": "private_key_file",
    "client_assertion_type": "private_key_file", "scope": "scope", "redirect_uri": "redirect_uri", "audience": "audience",
    "resource": "resource",
  ]

  /// Headers that this plugin or the HTTP library writes itself.
  private static let ownedHeaders: Set<String> = [
    "accept-encoding", "authorization", "connection", "content-encoding", "content-length", "content-type", "expect", "host", "te",
    "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// The maximum number of parameters, and of headers.
  private static let most = 32

  /// `redirect_uri`, `audience`, `resource` (one or a list, RFC 8707), and the contents of `parameters`.
  static func parameters(_ table: inout SettingsTable) -> [Account.Field] {
    var fields: [Account.Field] = []
    for key in ["redirect_uri", "audience"] {
      if let text = table.text(key) { fields.append(address(key, text)) }
    }
    if case .array? = table.value("resource") {
      for value in table.array("resource") {
        if let text = value.text {
          fields.append(address("resource", text))
        } else {
          table.report("resource", "must be a string or an array of strings")
        }
      }
    } else if let text = table.text("resource") {
      fields.append(address("resource", text))
    }
    for field in table.texts("parameters") {
      if let key = owned[field.name] {
        table.report("parameters.\(field.name)", "is not for this table; use \(key)")
      } else {
        fields.append(Account.Field(name: field.name, value: Secret(field.value)))
      }
    }
    if fields.count > most { table.report("parameters", "has \(fields.count) entries, more than \(most)") }
    return fields
  }

  private static func address(_ name: String, _ value: String) -> Account.Field {
    Account.Field(name: name, value: Secret(value), isPublic: true)
  }

  static func headers(_ table: inout SettingsTable) -> [Account.Field] {
    let headers = table.texts("headers")
    for header in headers {
      if ownedHeaders.contains(header.name.lowercased()) {
        table.report("headers.\(header.name)", "is set by the plugin itself; leave it out")
      } else if !HeaderText.isName(header.name) {
        table.report("headers.\(header.name)", "is not a valid HTTP header name")
      } else if !HeaderText.isValue(header.value) {
        table.report("headers.\(header.name)", "must not contain control characters")
      }
    }
    for (_, same) in Dictionary(grouping: headers, by: { $0.name.lowercased() }) where same.count > 1 {
      table.report("headers.\(same[1].name)", "is the same header as \(same[0].name); leave one of them out")
    }
    if headers.count > most { table.report("headers", "has \(headers.count) entries, more than \(most)") }
    return headers.map { Account.Field(name: $0.name, value: Secret($0.value)) }
  }
}
