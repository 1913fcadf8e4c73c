/// Whose certificates an account's servers may show: the system's authorities, and those of its `ca_file`.
struct TrustedAuthorities: Sendable {
  /// Largest file of certificates that is read: 1 MiB.
  private static let largestFile = 1 << 20

  /// PEM certificates that are trusted in addition to the system's; nil if there are none.
  let certificates: [UInt8]?
  private let file: String

  /// - Parameter file: Certificates in PEM; nil: none but the system's.
  /// - Throws: ``ExchangeFailure/misconfigured(reason:)`` when the file cannot be read or holds no certificate.
  init(file: String?) throws(ExchangeFailure) {
    self.file = file ?? ""
    do {
      certificates = try file.map { path throws(SystemError) in try OpenFile.reading(path).contents(limit: Self.largestFile) ?? [] }
    } catch {
      throw .misconfigured(reason: "ca_file: \(error) (let this plugin read the file)")
    }
    if let certificates, !Self.haveCertificate(certificates) { throw unusable }
  }

  /// What they are when they cannot be read as certificates.
  var unusable: ExchangeFailure {
    .misconfigured(reason: "ca_file \(file): holds no certificate in PEM, or more than \(Self.largestFile) bytes")
  }

  /// Whether a block of a certificate begins. libcurl would not miss it: it reads these with the system's as one text.
  private static func haveCertificate(_ text: [UInt8]) -> Bool {
    String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline)
      .contains { $0.hasPrefix("-----BEGIN ") && $0.hasSuffix("CERTIFICATE-----") }
  }
}
