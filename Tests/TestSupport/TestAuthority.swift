/// Makes certificates for tests with the program `openssl`, in a directory of the test.
public struct TestAuthority: Sendable {
  /// A certificate and its key, by their paths.
  public struct Pair: Sendable {
    /// The certificate.
    public let certificate: String
    /// Its key, with mode 0600.
    public let key: String
  }

  private let directory: String
  private let name: String

  /// Its own certificate, for clients to trust.
  public var certificate: String { "\(directory)/\(name).pem" }

  /// Makes an authority.
  ///
  /// - Parameters:
  ///   - directory: Where all files go.
  ///   - name: What its files are called.
  public init(in directory: String, name: String = "ca") async throws {
    (self.directory, self.name) = (directory, name)
    try await openssl(
      ["req", "-x509"] + Self.newKey + ["-keyout", "\(name).key", "-out", "\(name).pem", "-subj", "/CN=test \(name)", "-days", "365"])
  }

  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

  /// Makes a certificate and a key of its own: `NAME.pem` and `NAME.key`.
  ///
  /// - Parameters:
  ///   - subject: Whose it is, as openssl writes alternative names.
  ///   - days: From now to its end; negative: it has ended.
  public func pair(_ name: String, for subject: String = "IP:127.0.0.1", days: Int = 90) async throws -> Pair {
    try await openssl(
      ["req"] + Self.newKey
        + ["-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(subject)"])
    try await openssl(
      [
        "x509", "-req", "-in", "\(name).csr", "-CA", "\(self.name).pem", "-CAkey", "\(self.name).key", "-days", "\(days)",
        "-copy_extensions", "copy", "-out", "\(name).pem",
      ])
    return Pair(certificate: "\(directory)/\(name).pem", key: "\(directory)/\(name).key")
  }

  private func openssl(_ arguments: [String]) async throws {
    let result = try await Program.run("/usr/bin/openssl", arguments, directory: directory)
    guard result.status == 0 else { throw TestFailure("openssl \(arguments): \(result.errors)") }
  }
}
