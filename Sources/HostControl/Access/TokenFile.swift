import Glibc
import HostThreads
import StrictText

/// The file with the tokens of a host, one JSON object a line: ids, roles, scopes and hashes, no secrets.
///
/// `taskhost tokens` writes it, whether a host is running or not; a host only reads it.
public struct TokenFile: Sendable {
  /// The most tokens of a host.
  public static let mostTokens = 1000
  private static let largest = 4 << 20

  /// Its path.
  public let path: String

  /// Creates a reference; the file need not exist.
  public init(path: String) { self.path = path }

  // MARK: Reading

  /// The tokens in the file, in its order; none if there is no file. Blocks briefly.
  ///
  /// - Throws: If somebody else than the reader and root may have written it or may read it, or if a line is wrong.
  public func read() throws(TokenFileError) -> [TokenRecord] { try content(trusting: [0, geteuid()])?.records ?? [] }

  /// nil if there is no file.
  ///
  /// - Parameter owners: Who may own the file; nil: anybody.
  private func content(trusting owners: [uid_t]?) throws(TokenFileError) -> (records: [TokenRecord], owner: uid_t)? {
    // Opening a pipe that nobody writes to must not block.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      let isLink = errno == ELOOP
      throw error(isLink ? "it is a symbolic link" : "\(ErrorNumber.last)", isLink ? "name the file itself" : nil)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error("\(ErrorNumber.last)") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw error("it is not a regular file") }
    if let owners, !owners.contains(status.st_uid) {
      throw error("user \(status.st_uid) owns it", "it must belong to the host's user or root: chown it")
    }
    guard status.st_mode & 0o077 == 0 else { throw error("other users may read or write it", "chmod 600 \(path)") }
    let bytes: [UInt8]
    do { bytes = try WholeTransfer.read(from: descriptor, atMost: Self.largest + 1) } catch { throw self.error("\(error)") }
    guard bytes.count <= Self.largest else { throw error("it has more than \(Self.largest) bytes") }
    return (try parse(bytes), status.st_uid)
  }

  private func parse(_ bytes: [UInt8]) throws(TokenFileError) -> [TokenRecord] {
    var records: [TokenRecord] = []
    var ids: Set<String> = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() where !line.isEmpty {
      let record: TokenRecord
      do { record = try TokenRecord(line: line) } catch {
        throw self.error("line \(index + 1): \(error.clause)", "remove the line, or the file, and create tokens again")
      }
      guard ids.insert(record.id).inserted else { throw error("line \(index + 1): the token \(record.id) is there twice") }
      records.append(record)
    }
    guard records.count <= Self.mostTokens else { throw error("it has more than \(Self.mostTokens) tokens", "revoke some") }
    return records
  }

  // MARK: Writing

  /// Changes the tokens in one step, while no other process does. A host that watches the file sees all of the change or nothing. Blocks.
  public func change<Result>(_ change: (inout [TokenRecord]) throws -> Result) throws -> Result {
    let owner = try directoryOwner()
    let lock = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw error("its lock cannot be opened: \(ErrorNumber.last)", "run this as the host's user or as root") }
    defer { close(lock) }
    try give(lock, to: owner)
    while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw error("\(ErrorNumber.last)") } }
    let found = try content(trusting: geteuid() == 0 ? nil : [0, geteuid()])
    var records = found?.records ?? []
    let result = try change(&records)
    guard records.count <= Self.mostTokens else { throw error("a host has at most \(Self.mostTokens) tokens", "revoke some") }
    try write(records, owner: found?.owner ?? owner)
    return result
  }

  /// Root may write for the host's user: the file then belongs to the directory's owner.
  private func directoryOwner() throws(TokenFileError) -> uid_t {
    let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    var status = stat()
    if stat(directory, &status) != 0, errno == ENOENT { mkdir(directory, 0o700) }
    guard stat(directory, &status) == 0 else { throw error("its directory \(directory): \(ErrorNumber.last)", "create it") }
    return status.st_uid
  }

  private func give(_ descriptor: Int32, to owner: uid_t) throws(TokenFileError) {
    guard geteuid() == 0, owner != 0 else { return }
    // The directory's owner may have put it there, for instance as a second name of a file that belongs to somebody else.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw error("its lock \(path).lock is not a regular file, or has another name too", "remove it")
    }
    guard status.st_uid != owner else { return }
    guard fchown(descriptor, owner, gid_t.max) == 0 else { throw error("its owner cannot be set: \(ErrorNumber.last)") }
  }

  private func write(_ records: [TokenRecord], owner: uid_t) throws(TokenFileError) {
    let temporary = path + ".new"
    // Only the holder of the lock writes this name: what is there was left by one that was killed.
    unlink(temporary)
    do {
      let isForeign = geteuid() == 0 && owner != 0
      try WholeFile.make(records.flatMap(\.line), at: temporary, mode: 0o600, owner: isForeign ? (owner, gid_t.max) : nil)
      guard rename(temporary, path) == 0 else { throw WholeFile.Failure(path: path, observed: "cannot be replaced", reason: .last) }
      try WholeFile.settle(path)
    } catch {
      unlink(temporary)
      throw self.error("\(error)", "check the directory's owner and mode")
    }
  }

  private func error(_ observed: String, _ remedy: String? = nil) -> TokenFileError {
    TokenFileError(path: path, observed: observed, remedy: remedy)
  }
}

/// Why the tokens of a host cannot be read or written.
public struct TokenFileError: Error, Sendable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// What was seen.
  public let observed: String
  /// What to do; nil if that is obvious.
  public let remedy: String?

  /// The file, what was seen and what to do.
  public var description: String { "the token file \(path): \(observed)\(remedy.map { ": \($0)" } ?? "")" }
}
