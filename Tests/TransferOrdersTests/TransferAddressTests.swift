import HTTPTransfer
import Testing
import TransferOrders

@Suite("Addresses of transfers") struct TransferAddressTests {
  @Test(
    "an address that is taken is one for libcurl too, with the same port",
    arguments: [
      "http://a", "https://a/", "HTTP://Example.org:8080/x?y#z", "http://127.0.0.1:65535", "https://[::1]:1/a",
      "https://[fe80::1%25eth0]/", "http://a?x=@b:9", "http://a/\\b:3", "http://a:80?b", "http://a_b.c", "http://a.b./",
      "http://xn--mnchen-3ya.example/%C3%A4", "http://a-.b--c", "http://192.0.2.1./", "http://\(String(repeating: "a", count: 63)).b",
      "http://1a",
    ])
  func taken(_ text: String) throws {
    let address = try TransferAddress(text)
    let url = try #require(TransferURL(text), "\(text)")
    #expect(url.origin.hasSuffix(":\(address.port)"), "\(text): \(address.port), \(url.origin)")
  }

  @Test(
    "an address that readers could take for different ones is refused",
    arguments: [
      "", "a", "//a", "http:/a", "http:a", "http://", "http:///a", "http://?a", "http://:80", "ftp://a", "file:///etc/passwd",
      "http://a b", "http://a\n", "http://a\u{0}", "http://u@a", "http://u:p@a", "http://a@b:80@c", "http://a\\@b", "http://a\\b",
      "http://a:0", "http://a:65536", "http://a:99999999999999999999", "http://a:-1", "http://a:+80", "http://a:8x", "http://a:80:90",
      "http://[::1", "http://[]", "http://[::1]x", "http://[::1]x:80", "http://a%2fb", "http://a;b", "http://a,b",
      "http://[zz]/", "http://[1]", "http://[::1%25]", "http://[::1%eth0]", "http://[::1%25a/b]", "http://-a", "http://a.-b", "http://a~b",
      "http://h../", "http://.h", "http://a..b", "http://.", "http://a:", "http://a:/b", "http://münchen.example", "http://a/ä",
      "http://a?ü",
      "http://1.2.3", "http://256.1.1.1", "http://0x7f.1", "http://127.0.0.01", "http://2130706433", "http://a.0x7f",
      "http://\(String(repeating: "a", count: 64)).b", "http://\(String(repeating: "abc.", count: 63))ab",
      "http://\(String(repeating: "a", count: 9000))",
    ])
  func refused(_ text: String) { #expect(throws: TransferAddress.Flaw.self, "\(text)") { try TransferAddress(text) } }
}
