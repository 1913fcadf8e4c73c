import Foundation
import Glibc
import HostThreads
import TaskModel

/// What a host remembers about its store in a separate file: the store's origin and the highest id that it recorded durably. At the next
/// launch, it reveals an emptied database, a deleted log or an old copy.
///
/// The file has 64 bytes with a checksum. It is created under another name, synced and renamed. After each commit, one write overwrites it
/// in place without a sync, because written data survives the process. It is synced with each checkpoint and on closing. After a power
/// failure, it therefore records no more than the store has, and little less.
final class StoreMark: Sendable {
  /// The content of the file.
  struct Content: Equatable {
    /// The store's origin.
    var origin: UInt64
    /// The highest sequence of any committed record; 0 for none.
    var sequence: Int64
    /// Whether a host has the store open. If it is set at launch, the previous host was killed.
    var isOpen: Bool
  }

  private static let format = Array("taskhost mark 1\n".utf8)
  private static let size = 64

  private let path: String
  private let descriptor: Int32
  private let content: Guarded<Content>

  /// Creates or replaces the file.
  init(path: String, _ content: Content) throws(StoreError) {
    self.path = path
    self.content = Guarded(content)
    let new = path + ".new"
    // A host that was killed here, or a power failure, can leave this file.
    if Self.foreign(at: new, isNew: true) == nil { unlink(new) }
    do throws(WholeFile.Failure) { try WholeFile.replace(Self.bytes(of: content), at: path, by: new, mode: 0o600) } catch {
      throw .other(error.description)
    }
    try? WholeFile.settle(path)
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.failure("cannot be opened", path) }
  }

  deinit { close(descriptor) }

  /// A sentence about a file at `path`, or at its temporary name, that is neither an intact nor a damaged mark. A host must not write to
  /// such a file. Nil if there is no such file.
  static func foreign(atMark path: String) -> String? { foreign(at: path, isNew: false) ?? foreign(at: path + ".new", isNew: true) }

  /// - Parameter isNew: Whether the file may be incomplete: too short, or zeros.
  private static func foreign(at path: String, isNew: Bool) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT ? nil : failure("cannot be examined", path).observed }
    guard status.st_mode & S_IFMT == S_IFREG else { return "\(path) is not a regular file" }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return failure("cannot be read", path).observed }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { return failure("cannot be read", path).observed }
    if count >= format.count, bytes.starts(with: format) { return nil }
    let isBegun = count <= size && (bytes[..<count].allSatisfy { $0 == 0 } || format.starts(with: bytes[..<count]))
    return isNew && isBegun ? nil : "\(path) exists and was not written by a host"
  }

  /// The content of a mark; nil if there is none.
  ///
  /// - Throws: ``StoreError/other(_:)`` if the file cannot be read or is damaged.
  static func read(_ path: String) throws(StoreError) -> Content? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure("cannot be read", path)
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw failure("cannot be read", path) }
    guard count == size, Array(bytes[..<format.count]) == format else {
      throw .other("\(path) is damaged")
    }
    let content = Content(origin: number(bytes, 16), sequence: Int64(bitPattern: number(bytes, 24)), isOpen: number(bytes, 32) != 0)
    guard Array(bytes[..<size]) == self.bytes(of: content), content.sequence >= 0 else {
      throw .other("\(path) is damaged")
    }
    return content
  }

  /// Records the highest id after a durable commit. Ignores errors: the mark then records less than the store has.
  func note(_ sequence: Int64) {
    content.withLock { content in
      guard sequence > content.sequence else { return }
      content.sequence = sequence
      put(content)
    }
  }

  /// Records that the store is closed properly.
  func end() {
    content.withLock { content in
      content.isOpen = false
      put(content)
    }
    sync()
  }

  /// Syncs the file. Any thread may call it.
  func sync() { fdatasync(descriptor) }

  private func put(_ content: Content) { _ = Self.bytes(of: content).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } }

  private static func bytes(of content: Content) -> [UInt8] {
    var bytes = format
    for number in [content.origin, UInt64(bitPattern: content.sequence), content.isOpen ? 1 : 0, check(content)] {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes + [UInt8](repeating: 0, count: size - bytes.count)
  }

  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  /// A checksum that distinguishes a mark from other data and from flipped bits.
  private static func check(_ content: Content) -> UInt64 {
    [content.origin, UInt64(bitPattern: content.sequence), content.isOpen ? 1 : 0].reduce(0x7461_736B_686F_7374) { check, number in
      let mixed = (check ^ number) &* 0x9E37_79B9_7F4A_7C15
      return mixed << 29 | mixed >> 35
    }
  }

  private static func failure(_ what: String, _ path: String) -> StoreError {
    .other("\(path) \(what): \(String(cString: strerror(errno)))")
  }
}
