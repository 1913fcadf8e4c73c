import Foundation
import TestSupport
import Testing

/// Transfers over TLS, and what is wrong with certificates.
@Suite("TLS of transfers", .timeLimit(.minutes(10)))
struct TransferTLSTests {
  /// Certificates of an authority for tests.
  private struct Authority {
    let directory: TestDirectory

    init(_ directory: TestDirectory) async throws {
      self.directory = directory
      try await openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test", "-days", "2")
      try await openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=test server")
    }

    /// A certificate and its key.
    func certificate(_ name: String, for subject: String = "IP:127.0.0.1", days: Int = 1) async throws -> [String] {
      try directory.file("\(name).ext", "subjectAltName=\(subject)")
      try await openssl(
        "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "\(days)", "-extfile", "\(name).ext", "-out",
        "\(name).pem")
      return [directory("\(name).pem"), directory("key.pem")]
    }

    private func openssl(_ arguments: String...) async throws {
      let result = try await Program.run("/usr/bin/openssl", arguments, directory: directory.path)
      try #require(result.status == 0, "\(result)")
    }
  }

  @Test("each fault of a certificate is named and final; a connection that is not secure may be another time")
  func faults() async throws {
    let directory = try TestDirectory()
    let authority = try await Authority(directory)
    let other = try await Authority(try TestDirectory())
    let settings = "[plugin.\"org.taskhost.transfers\".settings]\nca_file = \"\(directory("ca.pem"))\""
    try await TransferSurroundings.run(settings, reading: [directory.path]) { at in
      let good = try await RangeServer.start(tls: try await authority.certificate("good"))
      let right = try await at.transfer("\(good.address)/a?size=5000", "--to", at.file("a"))
      #expect(right.status == 0, "\(right)")
      try await at.expectContent("a", of: "/a?size=5000")
      let cases = [
        (try await authority.certificate("expired", days: -1), "certificate has expired", true),
        (try await authority.certificate("other", for: "DNS:example.org"), "no alternative certificate subject name matches", true),
        (try await other.certificate("unknown"), "unable to get local issuer certificate", true),
        (try await authority.certificate("old") + ["old"], "no secure connection", false),
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
