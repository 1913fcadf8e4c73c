import StrictText
import TaskModel

/// The address of a receiver on the web, as far as the host reads it: what sends to it reads it in full.
enum WebURL {
  /// Why a text is no such address; nil if it is one.
  static func flaw(of text: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return "it does not begin with https://" }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}".utf8.contains($0) }) else {
      return "it has a character that no address has: encode it with %"
    }
    guard text.utf8.count <= 2000 else { return "it has more than 2000 bytes" }
    guard !text.contains("#") else { return "the part after # is never sent: remove it" }
    let authority = text.dropFirst(scheme.count).prefix { !"/?".contains($0) }
    guard !authority.contains("@") else { return "a user or password in it is not sent: remove it" }
    guard !host(of: text).isEmpty else { return "it names no host" }
    return nil
  }

  /// Whether what is sent there stays on this machine.
  static func isLocal(_ text: String) -> Bool {
    let host = host(of: text)
    return host == "localhost" || host == "[::1]" || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
  }

  private static func host(of text: String) -> String {
    guard let colon = text.firstIndex(of: ":") else { return "" }
    let authority = text[colon...].dropFirst("://".count).prefix { !"/?".contains($0) }
    if authority.hasPrefix("[") { return String(authority.prefix { $0 != "]" }) + "]" }
    return authority.prefix { $0 != ":" }.lowercased()
  }
}

extension TOMLConverter<String> {
  /// An address of HTTP. The message does not repeat it: it may be a secret.
  static var webURL: Self {
    .text("an address such as \"https://example.org/hook\"", isSecret: { _ in true }) { text, _ throws(TextProblem) in
      if let flaw = WebURL.flaw(of: text) { throw TextProblem("this is no address such as https://example.org/hook: \(flaw)") }
      return text
    }
  }

  /// One mail address.
  static var mailAddress: Self {
    .text("a mail address") { text, _ throws(TextProblem) in
      guard HeaderText.isMailAddress(text) else {
        let shown = text.escapingControlCharacters
        throw TextProblem("\"\(shown)\" is no mail address such as ops@example.org: write one address in ASCII, without a name")
      }
      return text
    }
  }
}
