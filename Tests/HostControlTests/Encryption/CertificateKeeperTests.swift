import ControlTestSupport
import Foundation
import TaskModel
import TestSupport
import Testing

@testable import HostControl

@Suite("The host's certificate") struct CertificateKeeperTests {
  private let log = RecordedLog()

  /// What `init` throws.
  private func flaws(_ certificate: String, _ key: String) -> [String] {
    do throws(CertificateError) {
      _ = try CertificateKeeper(CertificateFiles(certificate: certificate, key: key), log: log.logger)
      return []
    } catch { return error.flaws }
  }

  @Test("each flaw of the files is told with the key, the path and the remedy, both files at once")
  func flaws() async throws {
    try await ControlFixture.withDirectory { directory in
      let authority = try await TestAuthority(in: directory)
      let (good, other) = (try await authority.pair("good"), try await authority.pair("other"))
      #expect(flaws(good.certificate, good.key) == [])
      let (missing, text) = (directory + "/none", directory + "/text")
      try "no PEM".write(toFile: text, atomically: true, encoding: .utf8)
      chmod(text, 0o600)
      let both = flaws(missing, text)
      #expect(both.count == 2 && both[0] == "control.certificate \(missing) does not exist", "\(both)")
      #expect(both.last?.hasPrefix("control.key \(text) holds no private key in PEM") == true, "\(both)")
      #expect(flaws(text, good.key).first?.hasPrefix("control.certificate \(text) holds no certificate in PEM") == true)
      let mismatch = flaws(good.certificate, other.key)
      let foreign = "control.key \(other.key) does not belong to the certificate \(good.certificate)"
      #expect(mismatch.first?.hasPrefix(foreign) == true, "\(mismatch)")
      chmod(good.key, 0o640)
      #expect(flaws(good.certificate, good.key).first?.hasSuffix("chmod 600 \(good.key)") == true)
      #expect(flaws(directory, good.key).count == 2)
      let locked = try await Program.run(
        "/usr/bin/openssl", ["pkey", "-in", other.key, "-aes256", "-passout", "pass:secret", "-out", directory + "/locked.key"])
      #expect(locked.status == 0)
      chmod(directory + "/locked.key", 0o600)
      #expect(flaws(other.certificate, directory + "/locked.key").first?.contains("without a passphrase") == true)
    }
  }

  @Test("a certificate that ends within 14 days is a warning, one that has ended needs a person; neither keeps the host from its work")
  func ends() async throws {
    try await ControlFixture.withDirectory { directory in
      let authority = try await TestAuthority(in: directory)
      for (days, count, needsAction, words) in [(90, 0, false, ""), (10, 1, false, "ends at 20"), (-1, 1, true, "ended at 20")] {
        let pair = try await authority.pair("c\(days)", days: days)
        let keeper = try CertificateKeeper(CertificateFiles(certificate: pair.certificate, key: pair.key), log: log.logger)
        let problems = keeper.problems
        #expect(problems.count == count && problems.allSatisfy { $0.kind == .certificate && $0.needsAction == needsAction })
        #expect(problems.allSatisfy { $0.sentence.contains(words) && $0.subject == pair.certificate }, "\(problems)")
      }
      #expect(log.lines.count == 2, "\(log.lines)")
    }
  }

  @Test("while certificate and key do not belong together, the pair from before stays, and the log says so once")
  func replaced() async throws {
    try await ControlFixture.withDirectory { directory in
      let authority = try await TestAuthority(in: directory)
      let (old, new) = (try await authority.pair("old"), try await authority.pair("new", days: 10))
      let keeper = try CertificateKeeper(CertificateFiles(certificate: old.certificate, key: old.key), log: log.logger)
      keeper.reload()
      #expect(log.lines == [] && keeper.problems == [])
      let first = keeper.context
      rename(new.certificate, old.certificate)
      for _ in 0..<3 { keeper.reload() }
      #expect(keeper.context === first)
      #expect(log.lines.count == 1 && log.lines[0].contains("the certificate from before stays: control.key"), "\(log.lines)")
      #expect(keeper.problems.map(\.needsAction) == [false])
      rename(new.key, old.key)
      keeper.reload()
      #expect(keeper.context !== first)
      #expect(log.lines.count == 3 && log.lines[1].contains("the certificate has changed"), "\(log.lines)")
      #expect(log.lines.last?.contains("ends at") == true)
      #expect(keeper.problems.count == 1)
    }
  }

  @Test("failed handshakes are all counted, and logged at most once a minute")
  func tally() {
    let tally = HandshakeTally(log.logger)
    let start = MonotonicTime(nanoseconds: 0)
    for second in 0..<60 { tally.fail("192.0.2.1:1", "no\nTLS", at: start + .seconds(Int64(second))) }
    tally.fail("192.0.2.1:1", "no TLS", at: start + .seconds(60))
    #expect(tally.failures == 61)
    #expect(log.lines.count == 2 && log.lines.allSatisfy { !$0.contains("\n") }, "\(log.lines)")
    #expect(log.lines[1].contains("59"))
  }
}
