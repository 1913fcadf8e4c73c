import COpenSSL
import Glibc
import StrictText

/// The part of a download that has arrived, in a file beside its target. It takes the target's place when it is whole, never before.
///
/// A second file notes whose part it is: it may only grow with bytes of the same version of the same URL. After a reboot, only what was
/// synced by then counts.
final class PartFile {
  /// What the second file has.
  struct Note {
    var url: String
    /// The server's strong validator of the content, as `If-Range` takes it; nil if it gave none, and the part cannot grow.
    var validator: String?
    /// When the machine booted, in seconds since 1970.
    var booted: Int64
    /// The number of bytes that were on the disk for certain.
    var synced: Int64
  }

  let path: String
  private let target: String
  private let notePath: String
  private let descriptor: Int32
  private(set) var note: Note
  private var isRemoved = false
  /// The number of bytes that it has.
  private(set) var size: Int64 = 0
  /// How many bytes may be written between two syncs.
  private static let syncInterval: Int64 = 64 << 20

  /// Opens the part of an earlier attempt, or makes a new one.
  ///
  /// - Parameter id: Tells the parts of different requests for one target apart.
  init(of target: String, url: String, id: String) throws(FileFailure) {
    self.target = target
    let slash = target.lastIndex(of: "/") ?? target.startIndex
    let name = String(decoding: target[target.index(after: slash)...].utf8.prefix(180), as: UTF8.self)
    path = target[...slash] + ".\(name).\(id).part"
    notePath = path + ".json"
    note = Note(url: url, validator: nil, booted: Self.booted, synced: 0)
    descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw FileFailure(doing: "open \(path)") }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else {
      close(descriptor)
      throw FileFailure("\(path) is not an ordinary file: remove it")
    }
    if let earlier = earlierNote(), earlier.url == url, earlier.validator != nil {
      note = earlier
      // After a change of the clock it looks as if the machine had booted: then less counts than could.
      let isSameBoot = abs(earlier.booted - Self.booted) <= 5
      size = isSameBoot ? Int64(info.st_size) : min(Int64(info.st_size), earlier.synced)
    }
    note.booted = Self.booted
    do throws(FileFailure) { try truncate(to: size) } catch {
      close(descriptor)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Begins the content of that version: nothing of another one remains.
  func begin(validator: String?) throws(FileFailure) {
    note.validator = validator
    note.synced = 0
    try truncate(to: 0)
    try writeNote()
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    var rest = bytes
    while let start = rest.baseAddress, rest.count > 0 {
      let count = write(descriptor, start, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure(doing: "write \(path)", count == 0 ? EIO : errno) }
      size += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    if size - note.synced >= Self.syncInterval { try sync() }
  }

  /// Makes what has arrived durable, for the next attempt.
  func keep() {
    if isRemoved { return }
    guard note.validator != nil, size > 0 else { return remove() }
    try? sync()
  }

  private func sync() throws(FileFailure) {
    guard fdatasync(descriptor) == 0 else { throw FileFailure(doing: "sync \(path)") }
    note.synced = size
    try writeNote()
  }

  /// Puts the part in the target's place. Durable when this returns.
  ///
  /// - Parameter sha256: What the content must have, in hexadecimal.
  func finish(sha256: String?) throws(FileFailure) {
    if let sha256 {
      let found = try digest()
      guard found == sha256 else {
        remove()
        throw FileFailure("the content has the SHA-256 \(found), not \(sha256)", isTemporary: true)
      }
    }
    guard fsync(descriptor) == 0 else { throw FileFailure(doing: "sync \(path)") }
    guard rename(path, target) == 0 else { throw FileFailure(doing: "rename \(path) to \(target)") }
    unlink(notePath)
    let folder = open(String(target[...(target.lastIndex(of: "/") ?? target.startIndex)]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  func remove() {
    isRemoved = true
    unlink(path)
    unlink(notePath)
  }

  private func truncate(to length: Int64) throws(FileFailure) {
    guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) == off_t(length) else {
      throw FileFailure(doing: "cut \(path)")
    }
    size = length
  }

  private func digest() throws(FileFailure) -> String {
    guard let context = EVP_MD_CTX_new() else { throw FileFailure("no memory for a checksum", isTemporary: true) }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { throw FileFailure("this machine's OpenSSL has no SHA-256") }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset: Int64 = 0
    while true {
      let count = pread(descriptor, &buffer, buffer.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(doing: "read \(path)") }
      if count == 0 { break }
      EVP_DigestUpdate(context, buffer, count)
      offset += Int64(count)
    }
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw FileFailure("the checksum failed", isTemporary: true) }
    return Hex.text(digest)
  }

  // MARK: The note

  private func earlierNote() -> Note? {
    guard let text = SmallText.read(notePath, limit: 65_536), let node = try? JSONReader.read(text), let url = node["url"]?.string,
      let booted = node["booted"]?.integer, booted > 0, let synced = node["synced"]?.integer, synced >= 0
    else { return nil }
    return Note(url: url, validator: node["validator"]?.string, booted: booted, synced: synced)
  }

  private func writeNote() throws(FileFailure) {
    let text = JSONWriter.object { writer in
      writer.member("url", note.url)
      writer.member("validator", note.validator)
      writer.member("booted", note.booted)
      writer.member("synced", note.synced)
    }
    let file = open(notePath, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileFailure(doing: "open \(notePath)") }
    defer { close(file) }
    guard write(file, text, text.count) == text.count else { throw FileFailure(doing: "write \(notePath)") }
  }

  private static let booted: Int64 = {
    var sinceBoot = timespec()
    clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
    // Its seconds. The headers of libcrypto define the structure too, so that not every build finds its members here.
    return Int64(time(nil)) - withUnsafeBytes(of: sinceBoot) { Int64($0.load(as: Int.self)) }
  }()
}

/// Short files.
enum SmallText {
  /// Nil if the file cannot be read or is larger.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: limit + 1)
    var size = 0
    while size < bytes.count {
      let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress.map { $0 + size }, $0.count - size) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return Array(bytes.prefix(size)) }
      size += count
    }
    return nil
  }
}
