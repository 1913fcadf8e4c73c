import StrictText
import Testing
import TransferOrders

@Suite("Payload of transfers") struct TransferBatchTests {
  private func problems(_ json: String) -> [String] {
    do throws(SettingsProblems) {
      _ = try TransferBatch(payload: Array(json.utf8))
      return []
    } catch { return error.problems }
  }

  @Test("one transfer, or a list of them with what applies to all, is read")
  func read() throws {
    let one = try TransferBatch(payload: Array(#"{"url": "http://a/b", "to": "/srv/b"}"#.utf8))
    #expect(one.items == [.init(url: "http://a/b", direction: .download(to: "/srv/b", sha256: nil))])
    let text =
      #"{"items": [{"url": "https://a", "from": "/b", "method": "POST", "context": "mine"}], "at_once": 3, "headers": {"A": "b"}, "notify": "x"}"#
    let batch = try TransferBatch(payload: Array(text.utf8))
    #expect(batch.items == [.init(url: "https://a", direction: .upload(from: "/b", method: "POST"))])
    #expect(batch.atOnce == 3 && batch.notify == "x" && batch.headers.map(\.value) == ["b"])
  }

  @Test(
    "what no transfer can come of names its member and what to do",
    arguments: [
      ("", "is not JSON"), ("[]", "must be an object, not an array"), ("{}", "url: is missing"),
      (#"{"url": "ftp://a", "to": "/b"}"#, "url: must begin with https:// or http://"),
      (#"{"url": "http://a", "to": "b"}"#, "to: must be the absolute path of a file"),
      (#"{"url": "http://a", "to": "/b/"}"#, "to: must be the absolute path"),
      (#"{"url": "http://a", "to": "/a/../b"}"#, "to: must have no ."),
      (#"{"url": "http://a", "to": "/b\u0000"}"#, "to: must be the absolute path"), (#"{"url": "http://a"}"#, "has neither \"to\""),
      (#"{"url": "http://a", "to": "/b", "from": "/c"}"#, "from: conflicts with to"),
      (#"{"url": "http://a", "to": "/b", "method": "PUT"}"#, "method: is for uploads"),
      (#"{"url": "http://a", "from": "/b", "method": "DELETE"}"#, "method: must be PUT, POST or PATCH"),
      (#"{"url": "http://a", "to": "/b", "sha256": "abc"}"#, "sha256: must be 64"),
      (#"{"url": "http://a", "to": "/b", "context": 1}"#, "context: must be a string"),
      (#"{"url": "http://a", "to": "/b", "headers": {"a b": "c"}}"#, "headers.a b: is not a valid HTTP header name"),
      (#"{"url": "http://a", "to": "/b", "headers": {"a": "c\r\nd: e"}}"#, "headers.a: has control characters"),
      (#"{"url": "http://a", "to": "/b", "headers": {"Host": "c"}}"#, "headers.Host: is set by the transfer itself"),
      (#"{"url": "http://a", "to": "/b", "at_once": 0}"#, "at_once: is 0, must be 1 to 1000"),
      (#"{"items": []}"#, "items: must have 1 to 10000"),
      (#"{"items": [{"url": "http://a", "to": "/b"}, {"url": "http://c", "to": "/b"}]}"#, "items: two downloads have the same target"),
      (
        #"{"items": [{"url": "http://a", "to": "/b/c"}, {"url": "http://c", "to": "//b///c"}]}"#,
        "items: two downloads have the same target"
      ),
      (
        #"{"url": "http://a", "to": "/b", "headers": {"AUTHORIZATION": "c"}, "bearer_token_file": "/t"}"#,
        "headers.AUTHORIZATION: conflicts with bearer_token_file"
      ),
      (#"{"url": "http://a/ü", "to": "/b"}"#, "url: has characters outside of ASCII: percent-encode them"),
      (#"{"url": "http://a", "to": "/\#(String(repeating: "ü", count: 128))/b"}"#, "to: has a name of 256 bytes in it"),
      (#"{"items": [{"url": "http://a", "to": "/b"}, 1]}"#, "items[1]: must be an object"),
      (#"{"items": [{"url": "http://a", "to": "/b"}], "url": "http://a"}"#, "url: belongs into an element of items"),
      (#"{"url": "http://a", "too": "/b"}"#, "unknown key \"too\""),
      (#"{"url": "http://a", "to": "/b", "to": "/c"}"#, "is not JSON"),
    ])
  func refused(_ json: String, _ words: String) {
    let found = problems(json)
    #expect(found.contains { $0.contains(words) }, "\(json): \(found)")
  }

  @Test("all problems are named at once")
  func all() {
    #expect(problems(#"{"items": [{"url": "x", "to": "y"}, {"url": "http://a"}], "at_once": "z"}"#).count == 4)
  }
}
