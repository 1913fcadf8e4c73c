import Glibc

/// Reads a client secret or a private key from the place that the settings name.
struct ClientSecretReader: Sendable {
  /// The maximum size of a secret in bytes: 64 KiB.
  static let largest = 65_536

  /// Reads a variable of the process's environment, in which the host left only those that the plugin's configuration names.
  var environment: @Sendable (String) -> String? = { name in getenv(name).map { String(cString: $0) } }

  /// - Parameter kind: Its name in sentences: `client secret` or `private key`.
  /// - Returns: The secret without one final newline, and a warning if others may read its file.
  /// - Throws: A sentence with the problem and the remedy.
  func read(_ source: Account.SecretSource, kind: String) throws(Problem) -> (secret: Secret, warning: String?) {
    switch source {
    case .environment(let name):
      guard let value = environment(name), !value.isEmpty else {
        throw Problem(reason: "the environment variable \(name) is not set; set it, and name it in the plugin's environment list")
      }
      return (Secret(value), nil)
    case .file(let path):
      return try readFile(path, kind)
    }
  }

  private func readFile(_ path: String, _ kind: String) throws(Problem) -> (Secret, String?) {
    do {
      // Follows symlinks, because services receive credentials that way.
      let file = try OpenFile.reading(path)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { throw Problem(reason: "\(kind) \(path): not a regular file") }
      guard let bytes = try file.contents(limit: Self.largest), var text = String(validating: bytes, as: UTF8.self) else {
        throw Problem(reason: "\(kind) \(path): not UTF-8 text of at most \(Self.largest) bytes")
      }
      if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
      guard !text.isEmpty else { throw Problem(reason: "\(kind) \(path): empty; write the \(kind) to it") }
      return (Secret(text), status.st_mode & 0o007 == 0 ? nil : "\(kind) \(path): any user may read it; run chmod o= on it")
    } catch let problem as Problem {
      throw problem
    } catch {
      throw Problem(reason: "\(kind): \(error) (let this plugin read the file)")
    }
  }
}
