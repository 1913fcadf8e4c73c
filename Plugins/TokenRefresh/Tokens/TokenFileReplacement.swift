import Glibc

/// A new content for a token file on its way: an empty temporary file beside it, with room reserved, that ``commit(_:)`` fills and puts in place.
///
/// One use: either ``commit(_:)`` or ``discard()``.
struct TokenFileReplacement: Sendable {
  /// How names of temporary files end.
  static let suffix = ".taskhost-new"
  /// Room reserved on the disk: what a token file may hold after an answer of the largest size.
  static let reserve: off_t = 327_680

  private let folder: OpenFile
  private let name: String
  private let temporary: String
  private let file: OpenFile

  /// Makes the temporary file, 0600, and reserves room for it.
  init(folder: OpenFile, name: String, temporary: String) throws(SystemError) {
    self.folder = folder
    self.name = name
    self.temporary = temporary
    file = try folder.file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    do throws(SystemError) {
      // The umask can only have taken bits away; with fewer than 0600 the next read would fail.
      try SystemError.check("set the mode of \(temporary)") { fchmod(file.descriptor, 0o600) }
      // It fills the file with zeros, which ``commit(_:)`` cuts off. Where the file system cannot reserve, glibc writes them.
      let code = posix_fallocate(file.descriptor, 0, Self.reserve)
      if code != 0 { throw SystemError(action: "reserve room for \(temporary)", code: code) }
    } catch {
      discard()
      throw error
    }
  }

  /// Writes the content, puts it in place of the token file and makes both durable.
  ///
  /// - Throws: What failed. If the content is complete in the temporary file, the file stays and the error names it: it may hold the only
  ///   valid token, and the next run takes it over.
  func commit(_ bytes: [UInt8]) throws(Failure) {
    do {
      try file.write(bytes)
      try SystemError.check("cut \(temporary)") { ftruncate(file.descriptor, off_t(bytes.count)) }
    } catch {
      discard()
      throw Failure(cause: error, kept: nil)
    }
    do {
      try file.synchronize()
      try OpenFile.rename(temporary, to: name, in: folder)
    } catch {
      throw Failure(cause: error, kept: temporary)
    }
    do {
      try folder.synchronize()
    } catch {
      throw Failure(cause: error, kept: name)
    }
  }

  /// Removes the temporary file.
  func discard() {
    unlinkat(folder.descriptor, temporary, 0)
  }

  /// Why a new content could not be put in place for good.
  struct Failure: Error {
    let cause: SystemError
    /// The file in the folder that does hold the new content; nil when none does.
    let kept: String?
  }
}

extension OpenFile {
  /// Renames within a folder, replacing what has the new name.
  static func rename(_ old: String, to new: String, in folder: OpenFile) throws(SystemError) {
    try SystemError.check("rename \(old) to \(new)") { renameat(folder.descriptor, old, folder.descriptor, new) }
  }
}
