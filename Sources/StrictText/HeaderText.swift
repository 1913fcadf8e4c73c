/// Which texts may be in an HTTP header.
public enum HeaderText {
  /// Whether a text may be the name of a header, or a method: a token (RFC 9110 §5.6.2).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains($0)
        }
      }
  }

  /// Whether a text may be the value of a header: it has no control characters but tabs.
  public static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

  /// Whether a text is one mail address, without a name, that a header takes as it is: printable ASCII with one `@`, and nothing of which
  /// lists, comments or quotes are made.
  public static func isMailAddress(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, text.utf8.count <= 254, !text.hasPrefix("-") else { return false }
    return text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"()<>[]:;,\\\"".utf8.contains($0) }
  }

  /// Whether a text may be an access token: printable ASCII without blanks (RFC 6750 §2.1 allows fewer characters).
  public static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 } }
}
