import Glibc

/// Files that are written whole or not at all.
public enum WholeFile {
  /// Why a file was not written.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The file, or the one that was to take its place.
    public let path: String
    /// What cannot be done with it: "cannot be made".
    public let observed: String
    /// Why.
    public let reason: ErrorNumber

    /// A failure of a file.
    public init(path: String, observed: String, reason: ErrorNumber) {
      self.path = path
      self.observed = observed
      self.reason = reason
    }

    /// A sentence.
    public var description: String { "\(path) \(observed): \(reason)" }
  }

  /// Makes a file that is not there yet, and waits until its bytes are on the disk.
  ///
  /// - Parameter mode: As a `mode_t`, whatever the umask is.
  public static func make(_ bytes: [UInt8], at path: String, mode: UInt32) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(path: path, observed: "cannot be made", reason: .last) }
    defer { close(descriptor) }
    do throws(ErrorNumber) {
      try WholeTransfer.write(bytes, to: descriptor)
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw .last }
    } catch {
      unlink(path)
      throw Failure(path: path, observed: "cannot be written", reason: error)
    }
  }

  /// Makes a file, or puts it in the place of one that is there, in one step. It may be lost with the power before
  /// ``settle(_:)``; what was there is not.
  ///
  /// - Parameter temporary: What it is called until it is complete: a name in the same directory that is not there.
  public static func replace(_ bytes: [UInt8], at path: String, by temporary: String, mode: UInt32) throws(Failure) {
    try make(bytes, at: temporary, mode: mode)
    guard rename(temporary, path) == 0 else {
      let reason = ErrorNumber.last
      unlink(temporary)
      throw Failure(path: temporary, observed: "cannot be written", reason: reason)
    }
  }

  /// Waits until what was last made, renamed or removed at `path` is on the disk.
  public static func settle(_ path: String) throws(Failure) {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(path: directory, observed: "cannot be opened", reason: .last) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw Failure(path: directory, observed: "cannot be written", reason: .last) }
  }
}
