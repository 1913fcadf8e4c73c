import FoundationEssentials
import Glibc

/// The replacement of a token file in progress: two temporary files beside it, with reserved space. One keeps the server's answer as soon
/// as it arrives; ``commit(_:)`` fills the other and puts it in place.
///
/// For one use: call either ``commit(_:)`` or ``discard()``.
struct TokenFileReplacement: Sendable {
  /// The suffix of temporary files with new content.
  static let suffix = ".taskhost-new"
  /// The reserved disk space in bytes: the size of a token file after an answer of the maximum size.
  static let reserve: off_t = 327_680

  /// The suffix of files that keep a server's answer.
  static let answerSuffix = ".taskhost-answer"
  /// The reserved disk space in bytes for an answer of the maximum size and the time of its request.
  static let answerReserve: off_t = 81_920

  private let folder: OpenFile
  private let name: String
  private let temporary: Temporary
  private let answer: Temporary

  /// Makes the temporary files with mode 0600, and reserves space for them.
  ///
  /// - Parameter stem: The prefix of the temporary files' names.
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

  /// Keeps a server's answer unchanged, before any code reads it. After this returns, killing the process loses no token.
  ///
  /// - Parameter asked: When the answer was requested.
  func keep(answer bytes: [UInt8], asked: Date) {
    // If this fails, writing the new content may still succeed.
    try? answer.file.write(KeptAnswer.encoded(bytes, asked: asked))
  }

  /// Writes the content, puts it in place of the token file and makes both durable.
  ///
  /// - Throws: The cause. If the content is complete in the temporary file, or the server's answer was kept, that file stays and the error
  ///   names it: it may contain the only valid token, and the next run recovers it.
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

  /// A temporary file with reserved disk space.
  private struct Temporary {
    let name: String
    let file: OpenFile
    private let folder: OpenFile

    init(_ folder: OpenFile, _ name: String, room: off_t) throws(SystemError) {
      self.folder = folder
      self.name = name
      file = try folder.file(name, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
      do throws(SystemError) {
        // The umask can only remove bits; with fewer than 0600 the next read would fail.
        try SystemError.check("set the mode of \(name)") { [file] in fchmod(file.descriptor, 0o600) }
        // This fills the file with zeros, which a commit cuts off. If the file system cannot reserve space, glibc writes them.
        let code = posix_fallocate(file.descriptor, 0, room)
        if code != 0 { throw SystemError(action: "reserve space for \(name)", code: code) }
      } catch {
        remove()
        throw error
      }
    }

    /// Whether the file contains more than the reserved zeros.
    var isWritten: Bool {
      var first: UInt8 = 0
      return pread(file.descriptor, &first, 1, 0) == 1 && first != 0
    }

    func remove() { unlinkat(folder.descriptor, name, 0) }
  }

  /// Why new content could not be put in place durably.
  struct Failure: Error {
    let cause: SystemError
    /// The file in the folder that contains the new tokens; nil if none does.
    let kept: String?
  }
}

extension OpenFile {
  /// Renames a file within a folder, replacing any file with the new name.
  static func rename(_ old: String, to new: String, in folder: OpenFile) throws(SystemError) {
    try SystemError.check("rename \(old) to \(new)") { renameat(folder.descriptor, old, folder.descriptor, new) }
  }
}

/// New tokens arrived and could not be stored. This is the plugin's worst failure, so the text says where they are.
struct StorageFailure: Error, CustomStringConvertible {
  let description: String

  init(_ failure: TokenFileReplacement.Failure, rotated: Bool) {
    let fate =
      switch (failure.kept, rotated) {
      case (let kept?, _):
        "they are in \(kept), in the folder of the token file; unless that is the token file itself, the next run recovers them"
      case (nil, true): "they are lost, and the refresh token in the file may be revoked: sign in again if the server refuses the next run"
      case (nil, false): "they are lost, but the refresh token in the file stays valid"
      }
    description = "NEW TOKENS NOT STORED: \(failure.cause); \(fate)"
  }
}
