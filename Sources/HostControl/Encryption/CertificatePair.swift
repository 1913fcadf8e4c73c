import Glibc
import NIOCore
import NIOSSL
import PluginTrust
import TaskModel

/// A certificate and its key as they were read: what new connections speak TLS with.
struct CertificatePair: Sendable {
  /// A chain of certificates is rarely larger than 16 KiB.
  private static let largest = 1 << 20
  /// How long the farewell of TLS may take, which waits for the client.
  private static let farewell = TimeAmount.seconds(1)

  let context: NIOSSLContext
  let validFrom: WallTime
  let validUntil: WallTime
  /// SHA-256 of both files: tells whether they have changed.
  let digest: [UInt8]

  /// Reads both files. Blocks briefly.
  ///
  /// - Throws: All flaws of both files.
  init(_ files: CertificateFiles) throws(CertificateError) {
    let chain: Content<[NIOSSLCertificate]>
    let key: Content<NIOSSLPrivateKey>
    switch (Self.chain(files.certificate), Self.key(files.key)) {
    case (.success(let found), .success(let other)): (chain, key) = (found, other)
    case (.failure(let flaw), .success), (.success, .failure(let flaw)): throw CertificateError([flaw.sentence])
    case (.failure(let flaw), .failure(let other)): throw CertificateError([flaw.sentence, other.sentence])
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.value.map { .certificate($0) }, privateKey: .privateKey(key.value))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    configuration.shutdownTimeout = Self.farewell
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw CertificateError(["control.key \(files.key) \(Self.mismatch(error, files))"])
    }
    validFrom = WallTime(unixSeconds: chain.value.first?.notValidBefore ?? 0)
    validUntil = WallTime(unixSeconds: chain.value.first?.notValidAfter ?? 0)
    digest = SHA256.digest(of: chain.digest + key.digest)
  }

  /// What a file holds, and the digest of its bytes.
  private struct Content<Value> {
    let value: Value
    let digest: [UInt8]
  }

  private struct Flaw: Error {
    let sentence: String
  }

  private static func chain(_ path: String) -> Result<Content<[NIOSSLCertificate]>, Flaw> {
    read(path, "control.certificate", .anybody) { bytes in
      guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
        return .failure(
          Flaw(
            sentence: "holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----: for one in DER, "
              + "openssl x509 -inform der -in \(path)"))
      }
      return .success(chain)
    }
  }

  private static func key(_ path: String) -> Result<Content<NIOSSLPrivateKey>, Flaw> {
    read(path, "control.key", .secret(of: geteuid())) { bytes in
      // Without a passphrase to try, a key that needs one fails here, and asks nobody at the terminal.
      guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem, passphraseCallback: { $0([UInt8]()) }) else {
        return .failure(Flaw(sentence: "holds no private key in PEM that works without a passphrase: openssl pkey -in \(path) makes one"))
      }
      return .success(key)
    }
  }

  private static func read<Value>(
    _ path: String, _ key: String, _ trust: SmallFile.Trust, _ parse: ([UInt8]) -> Result<Value, Flaw>
  ) -> Result<Content<Value>, Flaw> {
    let bytes: [UInt8]
    do { bytes = try SmallFile.read(path, trust: trust, atMost: largest) } catch {
      return .failure(Flaw(sentence: "\(key) \(path) \(error.observed)\(remedy(error.observed, path))"))
    }
    return parse(bytes).map { Content(value: $0, digest: SHA256.digest(of: bytes)) }
      .mapError { Flaw(sentence: "\(key) \(path) \($0.sentence)") }
  }

  private static func remedy(_ observed: String, _ path: String) -> String {
    if observed.hasPrefix("can be used by") { return ": chmod 600 \(path)" }
    return observed.hasPrefix("is owned by") ? ": chown it" : ""
  }

  /// Each of both could be read: what is left is that they are not a pair.
  private static func mismatch(_ error: any Error, _ files: CertificateFiles) -> String {
    guard case NIOSSLError.failedToLoadPrivateKey = error else {
      return "cannot be used with the certificate \(files.certificate): \("\(error)".prefix(300))"
    }
    return
      "does not belong to the certificate \(files.certificate): put the host's own certificate first in that file, and its key in this one"
  }
}
