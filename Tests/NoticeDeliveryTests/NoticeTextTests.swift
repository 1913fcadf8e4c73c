import Testing

@testable import NoticeDelivery

@Suite("The text of notifications") struct NoticeTextTests {
  @Test("what is no notification has none")
  func none() {
    for text in ["", "[]", "{}", "{\"title\":1,\"text\":\"x\"}", "x"] { #expect(NoticeText(Array(text.utf8)) == nil) }
  }

  @Test("a plugin's words call nobody in Slack, whatever Unicode joins to their characters")
  func slack() {
    for mark in ["\u{600}<!channel>", "<\u{301}!channel>\u{20E3}", "a\u{200D}<!here>&\u{FE0F}"] {
      let text = Webhook.slackText(mark)
      #expect(!text.utf8.contains(UInt8(ascii: "<")) && !text.utf8.contains(UInt8(ascii: ">")), "\(text)")
    }
  }

  @Test("control characters are gone")
  func printable() {
    let notice = NoticeText(Array("{\"title\":\"a\\u001b[2J\",\"text\":\"b\\rc\\nd\",\"count\":2}".utf8))
    #expect(notice?.body == "a [2J\nb c\nd")
  }
}
