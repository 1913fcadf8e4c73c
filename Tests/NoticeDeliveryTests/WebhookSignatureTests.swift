import Foundation
import Testing

@testable import NoticeDelivery

@Suite("Signatures of webhooks") struct WebhookSignatureTests {
  @Test("the example of the specification's libraries is signed as they sign it")
  func example() throws {
    let signature = try #require(WebhookSignature(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
    let header = signature.header(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330, body: Array("{\"test\": 2432232314}".utf8))
    #expect(header == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("a secret is text, or base64 after whsec_; blanks around it do not count")
  func secrets() throws {
    let plain = try #require(WebhookSignature(secret: " secret\r\n"))
    let encoded = try #require(WebhookSignature(secret: "whsec_" + Data("secret".utf8).base64EncodedString()))
    #expect(plain.header(id: "a", time: 1, body: []) == encoded.header(id: "a", time: 1, body: []))
    for bad in ["", " \n", "whsec_", "whsec_%%%"] { #expect(WebhookSignature(secret: bad) == nil, "\(bad)") }
  }

  @Test("a file that is missing, empty or too large is refused with its name")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, content) in [("empty", ""), ("large", String(repeating: "x", count: 5000))] {
      let file = folder.appending(path: name)
      try content.write(to: file, atomically: true, encoding: .utf8)
      let problem = #expect(throws: SecretProblem.self) { try WebhookSignature(file: file.path) }
      #expect(problem?.description.contains(file.path) == true)
    }
    let problem = #expect(throws: SecretProblem.self) { try WebhookSignature(file: folder.path + "/none") }
    #expect(problem?.description.contains("No such file") == true)
  }
}
