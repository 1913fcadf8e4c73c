import Testing

@testable import NoticeDelivery

@Suite("Spans for a collector") struct SpanUploadTests {
  @Test("a file of headers has one a line; blanks around them and comments do not count")
  func headers() throws {
    let headers = try SpanUpload.headers(in: "# key\n\n x-api-key :  a b \r\nauthorization: Bearer x:y\n", of: "f")
    #expect(headers.map(\.name) == ["x-api-key", "authorization"] && headers.map(\.value) == ["a b", "Bearer x:y"])
  }

  @Test(
    "a line that is no header is named by its number, and never repeated",
    arguments: ["secret", "a b: secret", ": secret", "a: secret\u{1}"])
  func wrong(_ line: String) throws {
    let problem = #expect(throws: SecretProblem.self) { try SpanUpload.headers(in: "a: b\n\(line)", of: "f") }
    #expect(problem?.description.contains("line 2") == true && problem?.description.contains("secret") == false)
  }

  @Test("what became of it is one object for the host")
  func answers() {
    var result = SpanUpload.Result.failed(.later("busy"))
    result.retryAfter = 2000
    #expect(String(decoding: result.json, as: UTF8.self) == "{\"message\":\"busy\",\"retry_after_ms\":2000}")
    #expect(String(decoding: SpanUpload.Result.failed(.delivered).json, as: UTF8.self) == "{}")
  }
}
