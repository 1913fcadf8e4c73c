import Glibc
import HostThreads
import StrictText

/// Reads an access token from a token file, with the caller's own rights: the host hands out no tokens.
enum AccessToken {
  /// The maximum size of a token file in bytes, as in the plugin: 256 KiB.
  private static let largestFile = 262_144

  /// - Parameters:
  ///   - path: The token file, which must be a regular file and no symlink.
  ///   - member: The member of its JSON object that has the token.
  /// - Throws: ``CommandFailure`` with the status `failed`, without any of the content.
  static func read(_ path: String, member: String) throws(CommandFailure) -> String {
    let bytes: [UInt8]
    do throws(ErrorNumber) { bytes = try contents(of: path) } catch {
      let remedy =
        error.code == EACCES
        ? "run this as the owner of the file, which is the user that the host runs as, or as root" : "sign in again if the file is gone"
      throw CommandFailure(.failed, path, "cannot be read: \(error)", remedy: remedy)
    }
    guard bytes.count <= largestFile, let object = try? JSONReader.read(bytes), let token = object[member]?.string,
      HeaderText.isToken(token)
    else {
      throw CommandFailure(.failed, path, "has no access token in its member \(member)", remedy: "sign in again")
    }
    return token
  }

  /// The path is the plugin's word, so nothing but a regular file is read: opening it cannot block, and reading it has no effect.
  private static func contents(of path: String) throws(ErrorNumber) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .last }
    guard status.st_mode & S_IFMT == S_IFREG else { throw ErrorNumber(EINVAL) }
    return try WholeTransfer.read(from: descriptor, atMost: largestFile + 1)
  }
}
