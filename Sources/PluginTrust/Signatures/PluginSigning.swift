import Glibc
import StrictText

/// Signs and verifies files for `taskhost plugins sign` and `verify`, regardless of their place and owner.
public enum PluginSigning {
  /// The path of a plugin's signature.
  public static func signatureFile(of plugin: String) -> String { plugin + ".sig" }

  /// The SHA-256 of a file's content, 32 bytes.
  ///
  /// - Parameter path: A regular file of at most 512 MiB; links are followed.
  public static func digest(of path: String) throws(SigningFileError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else {
      throw SigningFileError(path, "cannot be read: \(String(cString: strerror(errno)))", "Give the file of a plugin.")
    }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      throw SigningFileError(path, "is not a regular file", "Give the file of a plugin.")
    }
    do throws(Rejection) {
      let size = UInt64(max(info.st_size, 0))
      let limit = PluginTrustPolicy().maximumSize
      guard size <= limit else { throw .tooBig(size: size, limit: limit) }
      return try FileDigest.sha256(of: BoundedFile(descriptor: descriptor, size: size))
    } catch {
      throw SigningFileError(path, error.observed, error.remedy)
    }
  }

  /// Signs a file and writes the signature, replacing an earlier one.
  ///
  /// - Parameters:
  ///   - plugin: The file to sign.
  ///   - key: The key to sign with.
  ///   - output: The signature's path; nil means ``signatureFile(of:)``, where the host looks for it.
  /// - Returns: The signed digest, as 64 lower-case hexadecimal digits.
  public static func sign(_ plugin: String, with key: PluginSigningKey, output: String? = nil) throws(SigningFileError) -> String {
    let digest = try digest(of: plugin)
    let signature = try key.signature(digest: digest)
    try NewFile.replace(Array(signature.text.utf8), at: output ?? signatureFile(of: plugin), mode: 0o644)
    return Hex.text(digest)
  }

  /// Checks a file's signature.
  ///
  /// - Parameters:
  ///   - plugin: The signed file.
  ///   - signature: The signature's path; nil means ``signatureFile(of:)``.
  ///   - keys: The keys to accept.
  /// - Returns: The key that signed it.
  /// - Throws: The reason why no key is accepted.
  public static func verify(
    _ plugin: String, signature: String? = nil, keys: [PluginPublicKey]
  ) throws(SigningFileError) -> PluginPublicKey {
    let digest = try digest(of: plugin)
    let file = signature ?? signatureFile(of: plugin)
    let signature = try PluginSignature(reading: file)
    guard let key = keys.first(where: { $0.id == signature.keyID }) else {
      throw SigningFileError(
        file, "was made with the key \(signature.keyID), not with \(keys.map(\.id).joined(separator: " or "))",
        "Ask the author which key is theirs, and give its file with --key.")
    }
    guard key.verifies(signature, digest: digest) else {
      throw SigningFileError(
        file, "is not a signature of \(plugin): it belongs to other content, or one of the two was changed",
        "Get the plugin and its signature from their source again.")
    }
    return key
  }
}
