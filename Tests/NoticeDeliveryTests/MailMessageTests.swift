import Foundation
import Testing

@testable import NoticeDelivery

@Suite("Mails") struct MailMessageTests {
  private func notice(_ text: String, title: String = "com.example.a", count: Int = 1) throws -> NoticeText {
    let object: [String: Any] = ["title": title, "text": text, "host": "web1", "rule": "ops", "count": count]
    return try #require(NoticeText(Array(try JSONSerialization.data(withJSONObject: object))))
  }

  private func message(_ notice: NoticeText) throws -> String {
    let mail = try #require(MailMessage(to: "ops@example.org", from: "host@example.org", id: "01a2"))
    return String(decoding: mail.bytes(notice), as: UTF8.self)
  }

  private func body(_ message: String) throws -> String {
    let part = try #require(message.range(of: "\n\n"))
    let data = try #require(Data(base64Encoded: String(message[part.upperBound...]), options: .ignoreUnknownCharacters))
    return String(decoding: data, as: UTF8.self)
  }

  @Test("headers name recipient, sender, subject and a stable id; the text is whole")
  func plain() throws {
    let message = try message(try notice("failed for good: exit code 1"))
    let headers = message.components(separatedBy: "\n\n")[0]
    #expect(headers.contains("From: host@example.org\nTo: ops@example.org\n"))
    #expect(headers.contains("Message-ID: <01a2@taskhost>\n"))
    #expect(headers.contains("\nAuto-Submitted: auto-generated\n"))
    #expect(try body(message) == "web1: com.example.a failed for good: exit code 1\n")
  }

  @Test("words with line breaks, colons or other alphabets make no header and no broken line")
  func hostile() throws {
    let words = "x\r\nBcc: all@example.org\n\n.\nRCPT TO: äöü " + String(repeating: "é漢👩‍👩‍👧", count: 60)
    let message = try message(try notice(words, title: "a\nX-Evil: 1"))
    let headers = message.components(separatedBy: "\n\n")[0].split(separator: "\n")
    #expect(!headers.contains { $0.hasPrefix("Bcc") || $0.hasPrefix("X-Evil") || $0.hasPrefix("RCPT") })
    #expect(message.split(separator: "\n").allSatisfy { $0.utf8.count <= 78 }, "\(message)")
    #expect(message.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D })
    let names = headers.filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
    let mime: [Substring] = ["MIME-Version", "Content-Type", "Content-Transfer-Encoding"]
    #expect(names == ["From", "To", "Subject", "Message-ID", "Auto-Submitted"] + mime)
  }

  @Test("a summary of several has a line for each")
  func several() throws {
    let text = try body(message(notice("a failed for good\nb failed for good", title: "2 failed", count: 2)))
    #expect(text == "web1: 2 failed\na failed for good\nb failed for good\n")
  }

  @Test(
    "an address is one address",
    arguments: [
      ("ops@example.org", true), ("a+b@x", true), ("ops", false), ("@x", false), ("a@", false), ("a@b@c", false), ("a b@x", false),
      ("a@x\nBcc: b@x", false), ("a@x,b@x", false), ("<a@x>", false), ("-oQ/tmp@x", false), ("ä@x", false),
    ])
  func addresses(_ text: String, _ isAddress: Bool) {
    #expect((MailMessage(to: text, id: "1") != nil) == isAddress)
  }
}
