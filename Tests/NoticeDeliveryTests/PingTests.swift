import Testing

@testable import NoticeDelivery

@Suite("Pings") struct PingTests {
  @Test("the signal follows the path, and the run is in the query")
  func urls() {
    #expect(Ping.url("https://hc-ping.com/u", .start, run: "r") == "https://hc-ping.com/u/start?rid=r")
    #expect(Ping.url("https://hc-ping.com/u", .success, run: nil) == "https://hc-ping.com/u")
    #expect(Ping.url("https://hc-ping.com/u/", .fail, run: nil) == "https://hc-ping.com/u/fail")
    #expect(Ping.url("https://x/u?create=1", .fail, run: "r") == "https://x/u/fail?create=1&rid=r")
    #expect(Ping.url("https://x/u?create=1", .success, run: "r") == "https://x/u?create=1&rid=r")
  }
}
