import Foundation
import Glibc
import HostThreads
import TaskModel

/// What a host remembers of its store outside of it: that a store of this origin was there, and the highest id that it had recorded
/// durably. So an emptied database, a deleted log or a copy from yesterday is noticed at the next launch.
///
/// A file of 64 bytes, with a check over all of it. It is made under another name, synced and renamed; then it is overwritten in place with
/// one write after each commit, without a sync: what is written survives the process. It is synced with each checkpoint and at the end, so
/// that after a power cut it says no more than the store has, and little less.
final class StoreMark: Sendable {
  /// What is in the file.
  struct Content: Equatable {
    /// The store's own.
    var origin: UInt64
    /// The highest sequence of any record that was committed; 0: none was.
    var sequence: Int64
    /// Whether a host had the store open: it did not end by itself.
    var isOpen: Bool
  }

  private static let format = Array("taskhost mark 1\n".utf8)
  private static let size = 64

  private let path: String
  private let descriptor: Int32
  private let content: Guarded<Content>

  /// Makes the file anew.
  init(path: String, _ content: Content) throws(StoreError) {
    self.path = path
    self.content = Guarded(content)
    let new = path + ".new"
    // What a host left that was killed in here, or a power cut.
    if Self.foreign(at: new, isNew: true) == nil { unlink(new) }
    descriptor = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure("cannot be made", new) }
    let bytes = Self.bytes(of: content)
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0, count < bytes.count { errno = ENOSPC }
    guard count == bytes.count, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0, rename(new, path) == 0 else {
      let error = Self.failure("cannot be written", new)
      close(descriptor)
      unlink(new)
      throw error
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let directory = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      fsync(directory)
      close(directory)
    }
  }

  deinit { close(descriptor) }

  /// What is at `path` or is being made for it, and is no mark, whole or damaged: a host must not write there; nil if nothing is.
  static func foreign(atMark path: String) -> String? { foreign(at: path, isNew: false) ?? foreign(at: path + ".new", isNew: true) }

  /// - Parameter isNew: It may be begun only: shorter, or zeros.
  private static func foreign(at path: String, isNew: Bool) -> String? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT ? nil : failure("cannot be looked at", path).observed }
    guard status.st_mode & S_IFMT == S_IFREG else { return "\(path) is no regular file" }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return failure("cannot be read", path).observed }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size + 1)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { return failure("cannot be read", path).observed }
    if count >= format.count, bytes.starts(with: format) { return nil }
    let isBegun = count <= size && (bytes[..<count].allSatisfy { $0 == 0 } || format.starts(with: bytes[..<count]))
    return isNew && isBegun ? nil : "\(path) is there, and no host has written it"
  }

  /// What a file says; nil if there is none.
  ///
  /// - Throws: ``StoreError/other(_:)`` for a file that cannot be read, or is not what was written.
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
      throw .other("\(path) is damaged: it is not what a host wrote")
    }
    let content = Content(origin: number(bytes, 16), sequence: Int64(bitPattern: number(bytes, 24)), isOpen: number(bytes, 32) != 0)
    guard Array(bytes[..<size]) == self.bytes(of: content), content.sequence >= 0 else {
      throw .other("\(path) is damaged: it is not what a host wrote")
    }
    return content
  }

  /// A commit is durable whose records have no higher id. An error is none: the mark says less then.
  func note(_ sequence: Int64) {
    content.withLock { content in
      guard sequence > content.sequence else { return }
      content.sequence = sequence
      put(content)
    }
  }

  /// The store is about to be closed in order.
  func end() {
    content.withLock { content in
      content.isOpen = false
      put(content)
    }
    sync()
  }

  /// From any thread.
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

  /// Tells what a host wrote from chance and from bits that flipped.
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
