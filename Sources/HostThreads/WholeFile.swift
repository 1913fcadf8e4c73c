import Glibc

/// Writes files completely or not at all.
public enum WholeFile {
  /// Why a file was not written.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The path of the file, its temporary name or its directory.
    public let path: String
    /// What failed: "cannot be created".
    public let observed: String
    /// Why it failed.
    public let reason: ErrorNumber

    /// Creates a failure.
    public init(path: String, observed: String, reason: ErrorNumber) {
      self.path = path
      self.observed = observed
      self.reason = reason
    }

    /// The path, what failed and why, as a sentence.
    public var description: String { "\(path) \(observed): \(reason)" }
  }

  /// Creates a file that does not exist yet, and syncs its content.
  ///
  /// - Parameters:
  ///   - mode: The permissions as a `mode_t`; the umask does not apply.
  ///   - owner: Whose file it is, if not this process's.
  public static func make(_ bytes: [UInt8], at path: String, mode: UInt32, owner: (user: UInt32, group: UInt32)? = nil) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(path: path, observed: "cannot be created", reason: .last) }
    defer { close(descriptor) }
    do throws(ErrorNumber) {
      try WholeTransfer.write(bytes, to: descriptor)
      // By the descriptor: others who may write into the folder can put another file in its place.
      if let owner { guard fchown(descriptor, owner.user, owner.group) == 0 else { throw .last } }
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw .last }
    } catch {
      unlink(path)
      throw Failure(path: path, observed: "cannot be written", reason: error)
    }
  }

  /// Creates or replaces a file in one step. A power failure before ``settle(_:)`` can undo the change, but does not lose the old file.
  ///
  /// - Parameter temporary: The name of the file until it is complete: an unused name in the same directory.
  public static func replace(_ bytes: [UInt8], at path: String, by temporary: String, mode: UInt32) throws(Failure) {
    try make(bytes, at: temporary, mode: mode)
    guard rename(temporary, path) == 0 else {
      let reason = ErrorNumber.last
      unlink(temporary)
      throw Failure(path: temporary, observed: "cannot be written", reason: reason)
    }
  }

  /// Syncs the directory of `path`, so that the last creation, renaming or removal at `path` is durable.
  public static func settle(_ path: String) throws(Failure) {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(path: directory, observed: "cannot be opened", reason: .last) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw Failure(path: directory, observed: "cannot be written", reason: .last) }
  }
}
