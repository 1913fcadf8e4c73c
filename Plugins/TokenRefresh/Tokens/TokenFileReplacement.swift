import FoundationEssentials
import Glibc

/// The replacement of a token file in progress: two temporary files beside it, with room reserved. One keeps the server's answer as soon as it
/// arrives; ``commit(_:)`` fills the other and puts it in place.
///
/// One use: either ``commit(_:)`` or ``discard()``.
struct TokenFileReplacement: Sendable {
  /// How names of temporary files end.
  static let suffix = ".taskhost-new"
  /// Room reserved on the disk: what a token file may hold after an answer of the largest size.
  static let reserve: off_t = 327_680

  /// How names of files end that keep a server's answer.
  static let answerSuffix = ".taskhost-answer"
  /// Room reserved for an answer: the largest one, and when it was asked for.
  static let answerReserve: off_t = 81_920

  private let folder: OpenFile
  private let name: String
  private let temporary: Temporary
  private let answer: Temporary

  /// Makes the temporary files, 0600, and reserves room for them.
  ///
  /// - Parameter stem: How the names of the temporary files begin.
  init(folder: OpenFile, name: String, stem: String) throws(SystemError) {
    self.folder = folder
    self.name = name
    temporary = try Temporary(folder, stem + Self.suffix, room: Self.reserve)
    do throws(SystemError) {
      answer = try Temporary(folder, stem + Self.answerSuffix, room: Self.answerReserve)
    } catch {
      temporary.remove()
      throw error
    }
  }

  /// Keeps a server's answer unchanged, before anything reads it: once this returns, killing the process loses no token.
  ///
  /// - Parameter asked: When the answer was asked for.
  func keep(answer bytes: [UInt8], asked: Date) {
    // If it cannot be written, the new content that follows may still be.
    try? answer.file.write(KeptAnswer.encoded(bytes, asked: asked))
  }

  /// Writes the content, puts it in place of the token file and makes both durable.
  ///
  /// - Throws: What failed. If the content is complete in the temporary file, or the server's answer was kept, that file stays and the error
  ///   names it: it may hold the only valid token, and the next run takes it over.
  func commit(_ bytes: [UInt8]) throws(Failure) {
    do {
      try temporary.file.write(bytes)
      try SystemError.check("cut \(temporary.name)") { ftruncate(temporary.file.descriptor, off_t(bytes.count)) }
    } catch {
      temporary.remove()
      throw Failure(cause: error, kept: answer.isWritten ? answer.name : nil)
    }
    do {
      try temporary.file.synchronize()
      try OpenFile.rename(temporary.name, to: name, in: folder)
    } catch {
      throw Failure(cause: error, kept: temporary.name)
    }
    answer.remove()
    do {
      try folder.synchronize()
    } catch {
      throw Failure(cause: error, kept: name)
    }
  }

  func discard() {
    temporary.remove()
    answer.remove()
  }

  /// A file of this replacement, made with room on the disk.
  private struct Temporary {
    let name: String
    let file: OpenFile
    private let folder: OpenFile

    init(_ folder: OpenFile, _ name: String, room: off_t) throws(SystemError) {
      self.folder = folder
      self.name = name
      file = try folder.file(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
      do throws(SystemError) {
        // The umask can only have taken bits away; with fewer than 0600 the next read would fail.
        try SystemError.check("set the mode of \(name)") { [file] in fchmod(file.descriptor, 0o600) }
        // It fills the file with zeros, which a commit cuts off. Where the file system cannot reserve, glibc writes them.
        let code = posix_fallocate(file.descriptor, 0, room)
        if code != 0 { throw SystemError(action: "reserve room for \(name)", code: code) }
      } catch {
        remove()
        throw error
      }
    }

    /// Whether anything but the reserved zeros is in it.
    var isWritten: Bool {
      var first: UInt8 = 0
      return pread(file.descriptor, &first, 1, 0) == 1 && first != 0
    }

    func remove() { unlinkat(folder.descriptor, name, 0) }
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

/// New tokens arrived and could not be stored: the worst failure here, so it says where they are.
struct StorageFailure: Error, CustomStringConvertible {
  let description: String

  init(_ failure: TokenFileReplacement.Failure, rotated: Bool) {
    let fate =
      switch (failure.kept, rotated) {
      case (let kept?, _):
        "they are in \(kept), in the folder of the token file, and the next run takes them over if it is not the file itself"
      case (nil, true): "they are lost, and the refresh token in the file may be void: sign in again if the next run is refused"
      case (nil, false): "they are lost, but the refresh token in the file stays valid"
      }
    description = "NEW TOKENS NOT STORED: \(failure.cause); \(fate)"
  }
}
