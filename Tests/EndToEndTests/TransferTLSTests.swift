import Foundation
import TestSupport
import Testing

/// Transfers over TLS, and what is wrong with certificates.
@Suite("TLS of transfers", .timeLimit(.minutes(10)))
struct TransferTLSTests {
  @Test("each fault of a certificate is named and final; a connection that is not secure may be another time")
  func faults() async throws {
    let directory = try TestDirectory()
    let authority = try await TestAuthority(in: directory.path)
    let other = try await TestAuthority(in: directory.path, name: "stranger")
    func certificate(
      _ name: String, of authority: TestAuthority, for subject: String = "IP:127.0.0.1", days: Int = 1
    ) async throws -> [String] {
      let pair = try await authority.pair(name, for: subject, days: days)
      return [pair.certificate, pair.key]
    }
    let settings = "[plugin.\"org.taskhost.transfers\".settings]\nca_file = \"\(directory("ca.pem"))\""
    try await TransferSurroundings.run(settings, reading: [directory.path]) { at in
      let good = try await RangeServer.start(tls: try await certificate("good", of: authority))
      let right = try await at.transfer("\(good.address)/a?size=5000", "--to", at.file("a"))
      #expect(right.status == 0, "\(right)")
      try await at.expectContent("a", of: "/a?size=5000")
      let cases = [
        (try await certificate("expired", of: authority, days: -1), "certificate has expired", true),
        (try await certificate("other", of: authority, for: "DNS:example.org"), "no alternative certificate subject name matches", true),
        (try await certificate("unknown", of: other), "unable to get local issuer certificate", true),
        (try await certificate("old", of: authority) + ["old"], "no secure connection", false),
      ]
      for (certificate, words, isFinal) in cases {
        let server = try await RangeServer.start(tls: certificate)
        let result = try await at.transfer("\(server.address)/b?size=5", "--to", at.file("b"))
        #expect(result.status == 1 && result.output.contains(words), "\(words): \(result)")
        #expect(result.output.contains("\"state\":\"\(isFinal ? "failed" : "waiting")\""), "\(words): \(result)")
        await server.stop()
      }
      let plain = try await at.transfer(at.server.address.replacing("http:", with: "https:") + "/b?size=5", "--to", at.file("b"))
      #expect(plain.status == 1 && plain.output.contains("no secure connection"), "\(plain)")
      let down = at.server.address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let redirected = try await at.transfer("\(good.address)/redirect?to=\(down)%2Fb%3Fsize%3D5", "--to", at.file("b"))
      #expect(redirected.status == 1 && redirected.output.contains("redirects from https to http"), "\(redirected)")
      #expect(try at.names() == ["a"])
      await good.stop()
    }
  }
}
