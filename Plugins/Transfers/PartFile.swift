import COpenSSL
import CTransfers
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
    /// Where the content came from, after redirects; nil if that is unknown.
    var source: String?
    /// The size of the whole content, if the server told it.
    var total: Int64?
    /// The inode of the part: another program may have put another file there.
    var inode: Int64?
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
  /// The number of bytes that it has, those in the buffer too.
  var size: Int64 { written + Int64(filled) }
  private var written: Int64 = 0
  /// libcurl gives at most 16 KiB at a time. A file grows nearly twice as fast by larger parts.
  private let buffer: UnsafeMutableRawBufferPointer
  private var filled = 0
  /// A sync waits for the disk: there is one when both so many bytes were written and so much time has passed since the last.
  private static let (syncInterval, syncTime): (Int64, Duration) = (64 << 20, .seconds(15))
  private var syncedAt = ContinuousClock.now
  /// The kernel starts writing to the disk after this many bytes, so that the sync at the end has little left to do.
  private static let writeBackInterval: Int64 = 8 << 20
  private var writtenBack: Int64 = 0

  /// Opens the part of an earlier attempt, or makes a new one.
  ///
  /// - Parameters:
  ///   - id: Tells the parts of different requests for one target apart.
  ///   - bufferSize: How many bytes are collected before they are written; 0 writes each at once.
  init(of target: String, url: String, id: String, bufferSize: Int) throws(FileFailure) {
    self.target = target
    buffer = .allocate(byteCount: bufferSize, alignment: 16)
    (path, notePath) = Self.paths(of: target, id: id)
    note = Note(url: url, validator: nil, source: nil, total: nil, inode: nil, booted: Self.booted, synced: 0)
    descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw FileFailure(doing: "open \(path)") }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else {
      close(descriptor)
      throw FileFailure("\(path) is not an ordinary file: remove it")
    }
    let inode = Int64(truncatingIfNeeded: info.st_ino)
    if let earlier = earlierNote(), earlier.url == url, earlier.validator != nil, earlier.inode == inode {
      note = earlier
      // After a change of the clock it looks as if the machine had booted: then less counts than could.
      let isSameBoot = earlier.booted.subtractingReportingOverflow(Self.booted).partialValue.magnitude <= 5
      written = isSameBoot ? Int64(info.st_size) : min(Int64(info.st_size), earlier.synced)
    }
    (note.booted, note.inode) = (Self.booted, inode)
    do throws(FileFailure) { try truncate(to: written) } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    close(descriptor)
    buffer.deallocate()
  }

  /// Where a part is, and the note about it.
  private static func paths(of target: String, id: String) -> (part: String, note: String) {
    let slash = target.lastIndex(of: "/") ?? target.startIndex
    let name = String(decoding: target[target.index(after: slash)...].utf8.prefix(180), as: UTF8.self)
    let path = "\(target[...slash]).\(name).\(id).part"
    return (path, path + ".json")
  }

  /// Removes the part that a request may have left.
  static func remove(of target: String, id: String) {
    let (path, notePath) = paths(of: target, id: id)
    unlink(path)
    unlink(notePath)
  }

  /// The size of the largest file that this process may write.
  private static let longest: Int64 = {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 ? Int64(clamping: limit.rlim_cur) : .max
  }()

  /// Begins the content of that version: nothing of another one remains.
  func begin(validator: String?, source: String?, total: Int64?) throws(FileFailure) {
    if let total, total > Self.longest { throw FileFailure(doing: "keep \(total) bytes as \(target)", EFBIG) }
    // A note that is on the disk must never stand beside bytes of another version, whatever reaches the disk first.
    let mustForget = note.synced > 0
    (note.validator, note.source, note.total, note.synced) = (validator, source, total, 0)
    try truncate(to: 0)
    try writeNote(isSynced: mustForget)
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    if bytes.count > buffer.count - filled { try flush() }
    if bytes.count <= buffer.count {
      UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyMemory(from: bytes)
      filled += bytes.count
    } else {
      try put(bytes)
    }
    if written - note.synced >= Self.syncInterval, .now - syncedAt >= Self.syncTime { try sync() }
  }

  /// Writes what was collected. What cannot be written is no longer part of it.
  func flush() throws(FileFailure) {
    guard filled > 0 else { return }
    let collected = UnsafeRawBufferPointer(rebasing: buffer[..<filled])
    filled = 0
    try put(collected)
  }

  private func put(_ bytes: UnsafeRawBufferPointer) throws(FileFailure) {
    var rest = bytes
    while let start = rest.baseAddress, rest.count > 0 {
      let count = write(descriptor, start, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFailure(doing: "write \(path)", count == 0 ? EIO : errno) }
      written += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    let begun = written - writtenBack
    guard begun >= Self.writeBackInterval else { return }
    taskhost_transfers_begin_writing(descriptor, writtenBack, begun)
    writtenBack = written
  }

  /// Makes what has arrived durable, for the next attempt.
  func keep() {
    if isRemoved { return }
    try? flush()
    guard note.validator != nil, size > 0 else { return remove() }
    // A sync that fails removes the part.
    try? sync()
  }

  private func sync() throws(FileFailure) {
    try flush()
    try synced(fdatasync(descriptor))
    (note.synced, syncedAt) = (size, .now)
    try writeNote(isSynced: false)
  }

  /// Checks the result of a sync. After one that failed, nobody knows which bytes are on the disk, and a second one may succeed all the
  /// same: the part is not to be trusted.
  private func synced(_ result: Int32) throws(FileFailure) {
    guard result != 0 else { return }
    let failure = FileFailure(doing: "sync \(path)")
    remove()
    throw failure
  }

  /// Puts the part in the target's place. Durable when this returns.
  ///
  /// - Parameter sha256: What the content must have, in hexadecimal.
  func finish(sha256: String?) throws(FileFailure) {
    try flush()
    if let sha256 {
      let found = try digest()
      guard found == sha256 else {
        remove()
        throw FileFailure("the content has the SHA-256 \(found), not \(sha256)", isTemporary: true)
      }
    }
    try synced(fsync(descriptor))
    let folder = open(String(target[...(target.lastIndex(of: "/") ?? target.startIndex)]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw FileFailure(doing: "open the folder of \(target)") }
    defer { close(folder) }
    guard let here = FileStamp(descriptor: descriptor), here == FileStamp(path: path) else {
      remove()
      throw FileFailure("another program has removed, replaced or changed \(path)", isTemporary: true)
    }
    guard rename(path, target) == 0 else { throw FileFailure(doing: "rename \(path) to \(target)") }
    isRemoved = true
    unlink(notePath)
    guard fsync(folder) == 0 else { throw FileFailure(doing: "sync the folder of \(target)") }
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
    (written, writtenBack, filled) = (length, length, 0)
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
    guard let text = try? SmallText.read(notePath, limit: 65_536), let node = try? JSONReader.read(text), let url = node["url"]?.string,
      let booted = node["booted"]?.integer, booted > 0, let synced = node["synced"]?.integer, synced >= 0
    else { return nil }
    return Note(
      url: url, validator: node["validator"]?.string, source: node["source"]?.string, total: node["total"]?.integer,
      inode: node["inode"]?.integer, booted: booted, synced: synced)
  }

  private func writeNote(isSynced: Bool) throws(FileFailure) {
    let text = JSONWriter.object { writer in
      writer.member("url", note.url)
      writer.member("validator", note.validator)
      writer.member("source", note.source)
      writer.member("total", note.total)
      writer.member("inode", note.inode)
      writer.member("booted", note.booted)
      writer.member("synced", note.synced)
    }
    let file = open(notePath, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileFailure(doing: "open \(notePath)") }
    defer { close(file) }
    guard write(file, text, text.count) == text.count else { throw FileFailure(doing: "write \(notePath)") }
    if isSynced, fsync(file) != 0 { throw FileFailure(doing: "sync \(notePath)") }
  }

  private static let booted: Int64 = {
    var sinceBoot = timespec()
    clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
    // Its seconds. The headers of libcrypto define the structure too, so that not every build finds its members here.
    return Int64(time(nil)) - withUnsafeBytes(of: sinceBoot) { Int64($0.load(as: Int.self)) }
  }()
}
