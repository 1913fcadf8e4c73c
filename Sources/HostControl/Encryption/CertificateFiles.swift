/// The files of the certificate with which the host speaks TLS.
public struct CertificateFiles: Sendable, Hashable {
  /// The certificate, followed by those of its authorities, in PEM.
  public let certificate: String
  /// Its private key, in PEM.
  public let key: String

  /// Creates a reference to both files.
  public init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// Why a certificate and its key cannot be used.
public struct CertificateError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence for each flaw of the files, at least one: the key, the path, what was seen, and what to do.
  public let flaws: [String]

  init(_ flaws: [String]) { self.flaws = flaws }

  /// The sentences, one a line.
  public var description: String { flaws.joined(separator: "\n") }
}
