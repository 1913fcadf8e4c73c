/// The configuration of a test: what the test says, and for each fixture in the plugin directory what every test needs.
struct PluginTables {
  /// What the test says; nil: it has not yet.
  var text: String?
  /// Those that are in thread isolation whatever the others are in.
  var threads: [String] = []
  private var identifiers: [String] = []

  /// A fixture was put into the plugin directory.
  mutating func add(_ source: String, _ arguments: [String]) {
    let names = [
      "script": "test.script", "faulty_launch": "test.faulty", "faulty_exception": "test.exception", "runtime_null": "test.runtime.null",
      "main_thread": "test.main-thread",
    ]
    let given = arguments.first { $0.hasPrefix("-DIDENTIFIER=") }?.dropFirst("-DIDENTIFIER=".count).trimmingPrefix("\"")
    var identifier = given.map { String($0.prefix { $0 != "\"" }) } ?? names[source] ?? "test.fault"
    if source == "faulty_swift" { identifier = arguments.contains("-DTWIN") ? "test.swift-twin" : "test.swift" }
    // What a test calls otherwise is not meant to be permitted, or no identifier at all.
    let isValid = identifier.hasPrefix("test.") && identifier.allSatisfy { "\($0)".isIdentifierPart }
    if isValid, !identifiers.contains(identifier) { identifiers.append(identifier) }
  }

  /// The text of `taskhost.toml`; nil while the test has said nothing.
  func configuration(_ isolation: Isolation, shared: String) -> String? {
    guard var text else { return nil }
    for identifier in identifiers {
      let (header, entitlements) = ("[plugin.\"\(identifier)\"]\n", "[plugin.\"\(identifier)\".entitlements]\n")
      if isolation == .thread || threads.contains(identifier) {
        if !text.contains(header) { text += "\n" + header }
        text = text.replacing(header, with: header + "isolation = \"thread\"\n", maxReplacements: 1)
      } else if !text.contains(entitlements) {
        text += "\n\(entitlements)write = [\"\(shared)\"]\n"
      }
    }
    // Keys of the root come before tables: what the test gives may begin with them.
    if !text.contains("[retry]") { text += "\n[retry]\ninitial = \"100ms\"\nmaximum = \"200ms\"\n" }
    return (text.contains("plugin_directories") ? "" : "plugin_directories = [\"plugins\"]\n") + text
  }
}

extension String {
  /// Whether it is made of what an identifier may have.
  fileprivate var isIdentifierPart: Bool {
    utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || "0123456789._-".utf8.contains($0) }
  }
}
