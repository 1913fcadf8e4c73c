import StrictText

/// A notification as a mail (RFC 5322), for the standard input of `sendmail -t`.
public struct MailMessage: Sendable {
  /// Whom it goes to: a text that ``HeaderText/isMailAddress(_:)`` takes.
  public var recipient: String
  /// Whom it comes from; nil leaves it to sendmail.
  public var sender: String?
  /// The same for all attempts, so that mail systems can recognize what they have already.
  public var id: String

  /// Creates a message; nil if one of the addresses is not valid.
  public init?(to recipient: String, from sender: String? = nil, id: String) {
    guard ([recipient] + [sender].compactMap { $0 }).allSatisfy(HeaderText.isMailAddress) else { return nil }
    self.recipient = recipient
    self.sender = sender
    self.id = id
  }

  /// The message with its headers, lines ended as sendmail takes them.
  public func bytes(_ notice: NoticeText) -> [UInt8] {
    var lines: [String] = []
    if let sender { lines.append("From: \(sender)") }
    lines.append("To: \(recipient)")
    lines.append("Subject: \(Self.encoded("[taskhost] \(notice.headline)"))")
    lines.append("Message-ID: <\(id)@taskhost>")
    // So that nobody's holiday answers it (RFC 3834).
    lines.append("Auto-Submitted: auto-generated")
    lines.append("MIME-Version: 1.0")
    lines.append("Content-Type: text/plain; charset=utf-8")
    lines.append("Content-Transfer-Encoding: base64")
    lines.append("")
    var text = Substring(Base64.encode(Array((notice.body + "\n").utf8)))
    while !text.isEmpty {
      lines.append(String(text.prefix(76)))
      text = text.dropFirst(76)
    }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The text of a header. Other characters than printable ASCII are encoded words (RFC 2047), and long texts are folded.
  static func encoded(_ text: String) -> String {
    if text.utf8.count <= 60, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), !text.contains("=?") { return text }
    var words: [String] = []
    var part: [UInt8] = []
    // An encoded word has at most 75 characters, and whole characters.
    for character in text.prefix(200) {
      let bytes = Array(String(character).utf8.prefix(42))
      if part.count + bytes.count > 42 {
        words.append("=?UTF-8?B?\(Base64.encode(part))?=")
        part = []
      }
      part += bytes
    }
    if !part.isEmpty { words.append("=?UTF-8?B?\(Base64.encode(part))?=") }
    return words.joined(separator: "\n ")
  }
}
