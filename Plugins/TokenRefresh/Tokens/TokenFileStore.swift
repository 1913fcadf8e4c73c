import FoundationEssentials
import Glibc

/// Reads one token file and replaces it as a whole: a reader sees the old or the new content, and a crash at any instruction leaves one of
/// them.
///
/// All names are resolved in the file's folder, which is opened once. The token file itself is never reached through a symlink.
struct TokenFileStore: Sendable {
  /// The maximum size of a token file in bytes: 256 KiB. Real ones have a few KiB.
  static let largestFile = 262_144

  let path: String
  private let folder: OpenFile
  private let name: String

  /// - Throws: If the folder cannot be opened. If it does not exist, the token file counts as missing.
  init(path: String) throws(TokenFileProblem) {
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    self.path = path
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    do {
      folder = try OpenFile.folder(parent)
    } catch {
      if error.code == ENOENT { throw .missing(path: path) }
      throw .unusable(path: path, observed: "\(error)", remedy: "let this plugin read and write that folder")
    }
  }

  /// Reads the file.
  ///
  /// Refuses a file that is not regular, a symlink, a file of another owner (replacing it would take it away from them), one that others
  /// may read or write (its tokens may already be known), one larger than ``largestFile``, and content that is not a token file.
  func read() throws(TokenFileProblem) -> Snapshot {
    let (bytes, modified) = try readBytes()
    do {
      return Snapshot(file: try TokenFile(json: bytes, modified: modified), digest: Digest.sha256(bytes))
    } catch {
      throw refuse(error.reason, "repair the file, or sign in again")
    }
  }

  /// Takes the lock of this file, which every process that refreshes it respects. Never waits.
  ///
  /// - Returns: nil if another process holds it, and so is refreshing.
  func lock() throws(TokenFileProblem) -> SingleFlightLock? {
    do {
      return try SingleFlightLock(folder: folder, name: ".\(name).lock")
    } catch {
      throw refuse("\(error)", "let this plugin write to the token file's folder, and remove whatever blocks the lock file")
    }
  }

  /// Prepares the replacement of the file before the server is asked. Whatever can fail fails now, while no token can be lost.
  ///
  /// Call with the lock held.
  func prepare(replacing current: Snapshot) throws(TokenFileProblem) -> TokenFileReplacement {
    do {
      return try TokenFileReplacement(folder: folder, name: name, stem: stem(current.digest))
    } catch {
      throw refuse("\(error)", "free some disk space, or let this plugin write to the token file's folder; the server was not asked")
    }
  }

  /// Cleans up after a killed run, and recovers the tokens that it could no longer put in place.
  ///
  /// The name of a temporary file contains the digest of the content that it was to replace. If the token file still has that content, the
  /// only valid refresh token is in a complete temporary file, or else in a kept answer of the server: this becomes the token file. All
  /// other temporary files are removed. Call with the lock held.
  ///
  /// - Returns: The recovered content; nil if there was none.
  func recover(_ current: Snapshot) throws(TokenFileProblem) -> Snapshot? {
    let stem = stem(current.digest)
    do {
      let leftovers = try leftovers()
      let content = leftovers.first { $0 == stem + TokenFileReplacement.suffix }.flatMap(complete)
      let answer = leftovers.first { $0 == stem + TokenFileReplacement.answerSuffix }.flatMap(answer)
      if content != nil {
        try OpenFile.rename(stem + TokenFileReplacement.suffix, to: name, in: folder)
        try folder.synchronize()
      }
      if content == nil, let answer {
        // The answer's own file is removed only after its content is in place.
        for leftover in leftovers where leftover != stem + TokenFileReplacement.answerSuffix { remove(leftover) }
        return try apply(answer, to: current)
      }
      for leftover in leftovers where content == nil || leftover != stem + TokenFileReplacement.suffix { remove(leftover) }
      return content
    } catch let problem as TokenFileProblem {
      throw problem
    } catch {
      throw refuse("\(error)", "let this plugin write to the token file's folder")
    }
  }

  private func apply(_ answer: KeptAnswer, to current: Snapshot) throws -> Snapshot {
    var file = current.file
    file.apply(answer.grant, issued: answer.asked)
    let bytes = try file.encoded()
    let temporary = stem(current.digest) + TokenFileReplacement.suffix
    let new = try folder.file(temporary, O_WRONLY | O_CREAT | O_EXCL)
    try new.write(bytes)
    try new.synchronize()
    try OpenFile.rename(temporary, to: name, in: folder)
    try folder.synchronize()
    remove(stem(current.digest) + TokenFileReplacement.answerSuffix)
    return try read()
  }

  /// Writes `NAME.signed-out` beside the token file, unless it exists.
  func markSignedOut(_ mark: SignedOutMark) throws {
    let marker = name + SignedOutMark.suffix
    guard faccessat(folder.descriptor, marker, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else { return }
    let temporary = ".\(marker).new"
    remove(temporary)
    let file = try folder.file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
    try SystemError.check("set the mode of \(temporary)") { fchmod(file.descriptor, 0o644) }
    try file.write(try mark.encoded())
    try OpenFile.rename(temporary, to: marker, in: folder)
  }

  func removeSignedOutMark() { remove(name + SignedOutMark.suffix) }

  private func remove(_ leftover: String) { unlinkat(folder.descriptor, leftover, 0) }

  private func readBytes() throws(TokenFileProblem) -> (bytes: [UInt8], modified: Date) {
    do {
      let file = try folder.file(name, O_RDONLY)
      let status = try file.status()
      guard status.st_mode & S_IFMT == S_IFREG else { throw refuse("not a regular file", "name the token file itself") }
      guard status.st_uid == geteuid() else {
        throw refuse(
          "owned by user \(status.st_uid), but this runs as \(geteuid())", "give the file to that user, or run the host as its owner")
      }
      guard status.st_mode & 0o077 == 0 else {
        let mode = String(status.st_mode & 0o777, radix: 8)
        throw refuse("mode 0\(mode) gives others access to the tokens", "run chmod 600 on it; sign in again if others may have read it")
      }
      guard let bytes = try file.contents(limit: Self.largestFile) else {
        throw refuse("larger than \(Self.largestFile) bytes", "name a token file")
      }
      return (bytes, status.modified)
    } catch let error as TokenFileProblem {
      throw error
    } catch let error as SystemError where error.code == ENOENT {
      throw .missing(path: path)
    } catch let error as SystemError where error.code == ELOOP {
      throw refuse("a symlink", "name the file that it points to")
    } catch {
      throw refuse("\(error)", "let this plugin read the file")
    }
  }

  private func complete(_ leftover: String) -> Snapshot? {
    guard
      let file = try? folder.file(leftover, O_RDWR), let status = try? file.status(), status.isPrivate,
      let reserved = try? file.contents(limit: Int(TokenFileReplacement.reserve)),
      // Reserved space that was not written is zeros, and JSON never ends in a zero.
      case let bytes = Array(reserved.prefix((reserved.lastIndex { $0 != 0 } ?? -1) + 1)),
      let content = try? TokenFile(json: bytes, modified: status.modified), content.accessToken != nil, content.refreshToken != nil,
      ftruncate(file.descriptor, off_t(bytes.count)) == 0, (try? file.synchronize()) != nil
    else { return nil }
    return Snapshot(file: content, digest: Digest.sha256(bytes))
  }

  private func leftovers() throws(SystemError) -> [String] {
    // A separate descriptor, because closedir closes it and reading moves its position.
    let copy = try SystemError.check("list the folder") { openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard let listing = fdopendir(copy) else {
      let code = errno
      close(copy)
      throw SystemError(action: "list the folder", code: code)
    }
    defer { closedir(listing) }
    var found: [String] = []
    while let entry = readdir(listing) {
      let entryName = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      let suffixes = [TokenFileReplacement.suffix, TokenFileReplacement.answerSuffix]
      if entryName.hasPrefix(".\(name)."), suffixes.contains(where: entryName.hasSuffix) { found.append(entryName) }
    }
    return found
  }

  private func answer(_ leftover: String) -> KeptAnswer? {
    // Others who may write into the folder could leave one too.
    guard let file = try? folder.file(leftover, O_RDONLY), (try? file.status())?.isPrivate == true,
      let bytes = try? file.contents(limit: Int(TokenFileReplacement.answerReserve))
    else { return nil }
    return KeptAnswer(bytes)
  }

  /// The prefix of the temporary files that are to replace the content with this digest.
  private func stem(_ digest: String) -> String { ".\(name).\(digest.prefix(16))" }

  private func refuse(_ observed: String, _ remedy: String) -> TokenFileProblem {
    .unusable(path: path, observed: observed, remedy: remedy)
  }

  struct Snapshot: Sendable, Equatable {
    let file: TokenFile
    /// SHA-256 of the bytes, in hexadecimal.
    let digest: String
  }
}

extension stat {
  /// Whether it is a file of this process's user, which nobody else can open.
  fileprivate var isPrivate: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() && st_mode & 0o077 == 0 }

  fileprivate var modified: Date { Date(timeIntervalSince1970: Double(st_mtim.tv_sec) + Double(st_mtim.tv_nsec) * 1e-9) }
}
