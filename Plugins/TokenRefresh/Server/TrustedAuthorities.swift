import NIOSSL

/// Whose certificates an account's servers may show: the system's authorities, and those of its `ca_file`.
struct TrustedAuthorities: Sendable {
  /// Largest file of certificates that is read: 1 MiB.
  private static let largestFile = 1 << 20

  /// For a request; nil: the client's own, which trusts the system's authorities.
  let configuration: TLSConfiguration?

  /// - Parameter file: Certificates in PEM; nil: none but the system's.
  /// - Throws: ``ExchangeFailure/misconfigured(reason:)`` when the file cannot be read or holds no certificate.
  init(file: String?) throws(ExchangeFailure) {
    guard let file else {
      configuration = nil
      return
    }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.additionalTrustRoots = [.certificates(try Self.certificates(file))]
    self.configuration = configuration
  }

  private static func certificates(_ path: String) throws(ExchangeFailure) -> [NIOSSLCertificate] {
    let bytes: [UInt8]?
    do {
      bytes = try OpenFile.reading(path).contents(limit: largestFile)
    } catch {
      throw .misconfigured(reason: "ca_file: \(error) (let this plugin read the file)")
    }
    guard let bytes, let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty else {
      throw .misconfigured(reason: "ca_file \(path): holds no certificate in PEM, or more than \(largestFile) bytes")
    }
    return certificates
  }
}
