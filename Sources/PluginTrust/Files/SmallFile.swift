import Glibc

/// Reads small files from untrusted places. It never blocks on a FIFO or reads a device.
package enum SmallFile {
  /// The requirements on a file's owner and mode.
  package enum Trust: Sendable {
    /// Any owner: the caller only compares the content.
    case anybody
    /// The rule for a plugin and its directories: owned by root or the user, not writable by others, not a link.
    case owned(by: UInt32)
    /// Like ``owned(by:)``, but the caller has checked the directories.
    case ownedInTrustedDirectory(by: UInt32)
    /// A secret: owned by the user or root, and not readable by others.
    case secret(of: UInt32)
    /// Like ``secret(of:)``, or one that systemd handed over: such a file belongs to root, and an access control list lets the user read it,
    /// which its mode shows as if the group could.
    case credential(of: UInt32)
  }

  package static let missing = SigningFlaw("does not exist")

  /// - Parameter limit: The most bytes that the file may have.
  /// - Throws: The file's flaw, such as ``missing``.
  package static func read(_ path: String, trust: Trust, atMost limit: Int = SigningText.limit) throws(SigningFlaw) -> [UInt8] {
    var follows = true
    switch trust {
    case .anybody, .secret, .credential: break
    case .owned(let user):
      try checkDirectory(of: path, user: user)
      follows = false
    case .ownedInTrustedDirectory: follows = false
    }
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (follows ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { throw flaw(errno, follows: follows) }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw flaw(errno, follows: follows) }
    guard info.st_mode & S_IFMT == S_IFREG else { throw SigningFlaw("is not a regular file") }
    try check(info, trust)
    guard info.st_size <= limit else { throw SigningFlaw("is \(info.st_size) bytes, more than \(limit)") }
    do throws(Rejection) {
      return try BoundedFile(descriptor: descriptor, size: UInt64(max(info.st_size, 0)))
        .read("its text", at: 0, count: max(Int(info.st_size), 0)).bytes
    } catch {
      throw SigningFlaw(error.observed)
    }
  }

  private static func check(_ info: stat, _ trust: Trust) throws(SigningFlaw) {
    let mode = "mode 0\(String(info.st_mode & 0o7777, radix: 8))"
    let user: UInt32
    switch trust {
    case .anybody: return
    case .owned(let owner), .ownedInTrustedDirectory(let owner):
      user = owner
      guard info.st_mode & 0o022 == 0 else { throw SigningFlaw("can be written by group or others (\(mode))") }
    case .credential where info.st_uid == 0 && info.st_gid == 0 && info.st_mode & 0o037 == 0: return
    case .secret(let owner), .credential(let owner):
      user = owner
      guard info.st_mode & 0o077 == 0 else { throw SigningFlaw("can be used by group or others (\(mode)); a private key must not") }
    }
    guard info.st_uid == 0 || info.st_uid == user else {
      throw SigningFlaw("is owned by user \(info.st_uid), not by root or user \(user)")
    }
  }

  private static func checkDirectory(of path: String, user: UInt32) throws(SigningFlaw) {
    do throws(Rejection) {
      try TrustedDirectory.opened(path, user: user) { _ in }
    } catch {
      throw SigningFlaw("cannot be trusted: \(error.observed)")
    }
  }

  private static func flaw(_ number: Int32, follows: Bool) -> SigningFlaw {
    switch number {
    case ENOENT: missing
    case ELOOP where !follows: SigningFlaw("is a symbolic link")
    default: SigningFlaw("cannot be read: \(String(cString: strerror(number)))")
    }
  }
}
