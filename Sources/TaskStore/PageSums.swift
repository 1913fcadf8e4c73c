import Glibc
import HostThreads
import TaskModel

/// A checksum of each page of the database, in a file beside it: so bits that flipped on the disk are found wherever they are, in a payload
/// as well as in an index.
///
/// In WAL mode the database changes with a checkpoint only, and one thread does these: it says which pages a checkpoint may change, so that
/// these are not known meanwhile, and takes their checksums afterwards. A host that is killed in between leaves pages that are not known.
/// What is not known is taken for good when it is read first.
///
/// The file: 32 bytes of header, then 8 bytes for each page from the first on; 0: not known.
final class PageSums: Sendable {
  private struct State {
    var sums: [UInt64] = []
    /// What a checkpoint may change now.
    var changing: Set<UInt32> = []
  }

  private static let format = Array("taskhost sums 1\n".utf8)
  private static let headerSize = 32

  private let database: Int32
  private let file: Int32
  private let pageSize: Int
  private let state: Guarded<State>

  /// Reads the file, or begins a new one.
  ///
  /// - Parameters:
  ///   - path: The database's; it is open by now.
  ///   - origin: The store's own: checksums of another one are of no use.
  /// - Returns: nil if there is no file to be had: nothing is checked then.
  init?(path: String, origin: UInt64, pageSize: Int) {
    let database = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    let file = open(Self.path(of: path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard database >= 0, file >= 0 else {
      for descriptor in [database, file] where descriptor >= 0 { close(descriptor) }
      return nil
    }
    (self.database, self.file, self.pageSize) = (database, file, pageSize)
    var status = stat()
    fstat(file, &status)
    var bytes = [UInt8](repeating: 0, count: max(0, Int(min(status.st_size, 1 << 31))))
    let size = bytes.count
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, size, 0) }
    let header = Self.header(origin, pageSize)
    if count == size, size >= Self.headerSize, Array(bytes[..<Self.headerSize]) == header {
      var sums = [UInt64](repeating: 0, count: (size - Self.headerSize) / 8)
      bytes.withUnsafeBytes { bytes in
        for index in sums.indices {
          sums[index] = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.headerSize + 8 * index, as: UInt64.self))
        }
      }
      state = Guarded(State(sums: sums))
    } else {
      state = Guarded(State())
      ftruncate(file, 0)
      _ = header.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
  }

  deinit {
    close(database)
    close(file)
  }

  /// Where the checksums of a database are.
  static func path(of database: String) -> String { database + ".sums" }

  private static func header(_ origin: UInt64, _ pageSize: Int) -> [UInt8] {
    var bytes = format
    for number in [origin, UInt64(pageSize)] { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }

  // MARK: Checkpoints

  /// A store is about to be opened whose log is not empty: if the launch fails, SQLite moves the log into the database on its own, so the
  /// pages in it are not known. To be called before anything opens the database.
  static func forget(pagesInLogOf database: String) {
    let file = open(path(of: database), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return }
    defer { close(file) }
    guard let pages = WALPages(database + "-wal") else {
      ftruncate(file, 0)
      return
    }
    var status = stat()
    fstat(file, &status)
    var nothing: UInt64 = 0
    for page in pages.numbers where page > 0 {
      let offset = off_t(headerSize + 8 * (Int(page) - 1))
      if offset < status.st_size { _ = pwrite(file, &nothing, 8, offset) }
    }
    fdatasync(file)
  }

  /// Whatever the database is now, it is taken for good.
  static func forgetAll(of database: String) { unlink(path(of: database)) }

  /// A checkpoint is about to change no other pages than these. Durable when it returns: the database may be written from then on.
  func willChange(_ pages: Set<UInt32>) {
    state.withLock { state in
      state.changing.formUnion(pages)
      for page in pages { set(0, page, &state) }
    }
    fdatasync(file)
  }

  /// The checkpoint is done: what the pages are now, they are to stay.
  func haveChanged(_ pages: Set<UInt32>) {
    state.withLock { state in
      for page in pages.sorted() { if let sum = sum(of: page) { set(sum, page, &state) } }
      state.changing.subtract(pages)
    }
  }

  private func set(_ sum: UInt64, _ page: UInt32, _ state: inout State) {
    guard page > 0, page < 1 << 28 else { return }
    let index = Int(page) - 1
    if index >= state.sums.count { state.sums += [UInt64](repeating: 0, count: index + 1 - state.sums.count) }
    guard state.sums[index] != sum else { return }
    state.sums[index] = sum
    var value = sum.littleEndian
    _ = pwrite(file, &value, 8, off_t(Self.headerSize + 8 * index))
  }

  // MARK: Checking

  /// What a page of the database is.
  enum Verdict {
    case good, damaged
    /// There is no such page.
    case end
  }

  /// Looks at a page. One that is not known is taken as it is.
  func check(_ page: UInt32) -> Verdict {
    guard let sum = sum(of: page) else { return .end }
    return state.withLock { state in
      if state.changing.contains(page) { return .good }
      let index = Int(page) - 1
      guard index < state.sums.count, state.sums[index] != 0 else {
        // It may have been read before a checkpoint changed it.
        if let now = self.sum(of: page) { set(now, page, &state) }
        return .good
      }
      guard state.sums[index] != sum else { return .good }
      return self.sum(of: page) == state.sums[index] ? .good : .damaged
    }
  }

  /// The checksum of a page on the disk, never 0; nil if the database has no such page.
  private func sum(of page: UInt32) -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: pageSize, alignment: 8) { buffer in
      let count = pread(database, buffer.baseAddress, pageSize, off_t(page - 1) * off_t(pageSize))
      guard count == pageSize else { return nil }
      // Four lanes of multiply and rotate: any single bit, and bursts, change the sum.
      var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
      let words = buffer.bindMemory(to: UInt64.self)
      var index = 0
      while index + 3 < words.count {
        lanes.0 = Self.mix(lanes.0, words[index])
        lanes.1 = Self.mix(lanes.1, words[index + 1])
        lanes.2 = Self.mix(lanes.2, words[index + 2])
        lanes.3 = Self.mix(lanes.3, words[index + 3])
        index += 4
      }
      let sum = Self.mix(Self.mix(Self.mix(lanes.0, lanes.1), lanes.2), lanes.3)
      return sum == 0 ? 1 : sum
    }
  }

  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return mixed << 29 | mixed >> 35
  }
}
