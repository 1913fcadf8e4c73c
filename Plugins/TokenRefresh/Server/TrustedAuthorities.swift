/// The authorities that an account trusts for server certificates: the system's, and those in its `ca_file`.
struct TrustedAuthorities: Sendable {
  /// The maximum size of a certificate file in bytes: 1 MiB.
  private static let largestFile = 1 << 20

  /// PEM certificates to trust in addition to the system's; nil if there are none.
  let certificates: [UInt8]?
  private let file: String

  /// - Parameter file: A file of PEM certificates; nil: only the system's.
  /// - Throws: ``ExchangeFailure/misconfigured(reason:)`` if the file cannot be read or contains no certificate.
  init(file: String?) throws(ExchangeFailure) {
    self.file = file ?? ""
    do {
      certificates = try file.map { path throws(SystemError) in try OpenFile.reading(path).contents(limit: Self.largestFile) ?? [] }
    } catch {
      throw .misconfigured(reason: "ca_file: \(error) (let this plugin read the file)")
    }
    if let certificates, !Self.haveCertificate(certificates) { throw unusable }
  }

  /// The failure if the file cannot be read as certificates.
  var unusable: ExchangeFailure {
    .misconfigured(reason: "ca_file \(file): contains no PEM certificate, or more than \(Self.largestFile) bytes")
  }

  /// Whether a certificate block begins. libcurl would not notice if none did: it reads these and the system's as one text.
  private static func haveCertificate(_ text: [UInt8]) -> Bool {
    String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
      .contains { $0.hasPrefix("-----BEGIN ") && $0.hasSuffix("CERTIFICATE-----") }
  }
}
