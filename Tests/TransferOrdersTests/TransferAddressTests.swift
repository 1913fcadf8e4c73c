import HTTPTransfer
import Testing
import TransferOrders

@Suite("Addresses of transfers") struct TransferAddressTests {
  @Test(
    "an address that is taken is one for libcurl too, with the same port",
    arguments: [
      "http://a", "https://a/", "HTTP://Example.org:8080/x?y#z", "https://a:/b", "http://127.0.0.1:65535", "https://[::1]:1/a",
      "https://[fe80::1%25eth0]/", "http://münchen.example/ä", "http://a?x=@b:9", "http://a/\\b:3", "http://a:80?b", "http://a_b~.c",
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
      "http://\(String(repeating: "a", count: 9000))",
    ])
  func refused(_ text: String) { #expect(throws: TransferAddress.Flaw.self, "\(text)") { try TransferAddress(text) } }
}
