import Glibc
import HostThreads
import TaskModel

/// The checksums of the database's pages, in a file beside the database. They detect flipped bits anywhere on the disk, in payloads as well
/// as in indexes.
///
/// In WAL mode, only a checkpoint changes the database, and one thread runs all checkpoints. Before a checkpoint, that thread marks the
/// checksums of the pages that may change as unknown; afterwards, it computes new ones. A host that is killed in between leaves pages with
/// unknown checksums. The first read of such a page accepts its content.
///
/// A page is compared with its checksum before a checkpoint changes it: if the old content was damaged when it was read, the new content
/// may contain the damage. A damaged page counts as damaged from then on, in later hosts too, until the checksum file is deleted.
///
/// The checksum of a page is written to the file only after the page itself is synced, so after a power failure the file never describes
/// content that the database lacks.
///
/// File format: 32 bytes of header, then 8 bytes for each page from the first; 0 means unknown, all ones means damaged.
final class PageSums: Sendable {
  /// Why the checksum file cannot be used.
  struct Unavailable: Error {
    let reason: String
    let remedy: String
  }

  /// The pages whose content differs from their checksums.
  struct Damage: Sendable, Hashable {
    private static let named = 8

    /// The first damaged pages.
    private(set) var pages: [UInt32] = []
    /// The number of damaged pages.
    private(set) var count = 0

    fileprivate mutating func add(_ page: UInt32) {
      count += 1
      if pages.count < Self.named { pages.append(page) }
    }
  }

  private struct State {
    var sums: [UInt64] = []
    /// The pages that the current checkpoint may change.
    var changing: Set<UInt32> = []
    /// The pages whose checksums are not in the file yet, because a power failure could undo their content.
    var unsynced: Set<UInt32> = []
    var damage = Damage()
    /// Whether some damage has not been reported to `told`.
    var isUntold = false
    var told: (@Sendable (Damage) -> Void)?
  }

  /// The checksum of a page that was found damaged.
  private static let damaged = UInt64.max

  private static let format = Array("taskhost sums 1\n".utf8)
  private static let headerSize = 32

  private let database: Int32
  private let file: Int32
  private let pageSize: Int
  private let state: Guarded<State>

  /// Why expected checksums are missing, as a sentence; nil if none are missing.
  let loss: String?

  /// Reads or creates the checksum file.
  ///
  /// - Parameters:
  ///   - path: The path of the open database.
  ///   - origin: The store's origin. Checksums of another store are ignored.
  ///   - isExpected: Whether a host has opened this store before.
  /// - Throws: ``Unavailable`` if the database or the checksum file cannot be opened. Nothing can be checked then.
  init(path: String, origin: UInt64, pageSize: Int, isExpected: Bool) throws(Unavailable) {
    let database = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard database >= 0 else { throw Self.unavailable(path) }
    let own = Self.path(of: path)
    let file = open(own, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else {
      let failure = Self.unavailable(own)
      close(database)
      throw failure
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
      var damage = Damage()
      for (index, sum) in sums.enumerated() where sum == Self.damaged { damage.add(UInt32(truncatingIfNeeded: index + 1)) }
      state = Guarded(State(sums: sums, damage: damage, isUntold: damage.count > 0))
      loss = nil
    } else {
      state = Guarded(State())
      loss = size > 0 ? "\(own) is not what a host wrote for this store" : isExpected ? "\(own) is missing or empty" : nil
      ftruncate(file, 0)
      _ = header.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }
  }

  deinit {
    close(database)
    close(file)
  }

  /// The path of a database's checksum file.
  static func path(of database: String) -> String { database + ".sums" }

  private static func unavailable(_ path: String) -> Unavailable {
    let code = errno
    let remedy =
      switch code {
      case ENOSPC, EDQUOT: "free some space"
      case EACCES, EPERM: "check its owner and mode"
      case EROFS: "mount its file system writable"
      case EISDIR, ELOOP, ENXIO: "move it away"
      default: "check the state directory"
      }
    return Unavailable(reason: "\(path): \(String(cString: strerror(code)))", remedy: "\(remedy), and restart the host")
  }

  private static func header(_ origin: UInt64, _ pageSize: Int) -> [UInt8] {
    var bytes = format
    for number in [origin, UInt64(pageSize)] { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    return bytes
  }

  // MARK: Checkpoints

  /// Marks the pages in the log as unknown, except those known to be damaged, because SQLite itself moves the log into the database if a
  /// launch fails. Call it before anything opens the database, and after a failed launch before the database is closed.
  static func forget(pagesInLogOf database: String) {
    let file = open(path(of: database), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return }
    defer { close(file) }
    guard let pages = WALPages(database + "-wal") else {
      ftruncate(file, 0)
      return
    }
    guard !pages.numbers.isEmpty, let pageSize = Self.pageSize(in: file) else { return }
    let main = open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    defer { if main >= 0 { close(main) } }
    for page in pages.numbers where page > 0 && page < 1 << 28 {
      let offset = off_t(headerSize + 8 * (Int(page) - 1))
      var known: UInt64 = 0
      guard pread(file, &known, 8, offset) == 8, known != 0 else { continue }
      known = UInt64(littleEndian: known)
      guard known != damaged else { continue }
      // The database ended before this page: it was cut off.
      let present = main >= 0 ? sum(of: page, in: main, pageSize: pageSize) : known
      var value = present == known ? 0 : damaged
      _ = pwrite(file, &value, 8, offset)
    }
    fdatasync(file)
  }

  /// The page size of the database whose checksums are in `file`; nil if no host wrote the file.
  private static func pageSize(in file: Int32) -> Int? {
    var bytes = [UInt8](repeating: 0, count: headerSize)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
    guard count == headerSize, bytes.starts(with: format) else { return nil }
    let size = bytes[24..<32].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return (512...65_536).contains(size) && size.nonzeroBitCount == 1 ? Int(size) : nil
  }

  /// Deletes all checksums, so that the database is accepted as it is.
  static func forgetAll(of database: String) { unlink(path(of: database)) }

  /// Computes the checksums of a complete database that no connection has open. If that fails, the next launch begins new ones.
  static func compute(for database: String, origin: UInt64) {
    var header = [UInt8](repeating: 0, count: 18)
    let main = open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard main >= 0 else { return }
    let count = header.withUnsafeMutableBytes { pread(main, $0.baseAddress, $0.count, 0) }
    close(main)
    // Bytes 16 and 17 of a database; 1 stands for 65,536.
    let pageSize = Int(header[16]) << 8 | Int(header[17])
    let sums = try? PageSums(path: database, origin: origin, pageSize: pageSize == 1 ? 65_536 : pageSize, isExpected: false)
    guard count == 18, let sums else { return }
    var page: UInt32 = 1
    while sums.look(at: page) { page += 1 }
    sums.settle()
  }

  /// The pages of a database that differ from their checksums or are missing, in ascending order. Changes nothing. No connection may have
  /// the database open, and its log must be empty.
  ///
  /// - Returns: nil if there are no checksums to compare with.
  static func differences(of database: String) -> [UInt32]? {
    let file = open(path(of: database), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let main = open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard main >= 0, let pageSize = pageSize(in: file) else { return nil }
    defer { close(main) }
    return pages(in: file) { page, expected in
      expected != 0 && (expected == damaged || sum(of: page, in: main, pageSize: pageSize) != expected)
    }
  }

  /// The pages that a host has marked as damaged, in ascending order. Changes nothing, and does not read the database.
  static func knownDamage(of database: String) -> [UInt32] {
    let file = open(path(of: database), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return [] }
    defer { close(file) }
    return pages(in: file) { _, known in known == damaged }
  }

  /// The pages whose checksums in `file` meet a condition, in ascending order.
  private static func pages(in file: Int32, where isWanted: (_ page: UInt32, _ sum: UInt64) -> Bool) -> [UInt32] {
    var (found, page, sum): ([UInt32], UInt32, UInt64) = ([], 1, 0)
    while page < 1 << 28, pread(file, &sum, 8, off_t(headerSize + 8 * (Int(page) - 1))) == 8 {
      if isWanted(page, UInt64(littleEndian: sum)) { found.append(page) }
      page += 1
    }
    return found
  }

  /// Prepares for a checkpoint that changes only these pages: compares them with their checksums, then marks the checksums as unknown. The
  /// database may be written only after this returns; the marks are then durable.
  func willChange(_ pages: Set<UInt32>) {
    let hasFound = state.withLock { state in
      var hasFound = false
      for page in pages where !state.changing.contains(page) {
        let known = Self.known(page, state)
        guard known != 0, known != Self.damaged, sum(of: page) != known else { continue }
        mark(page, &state)
        hasFound = true
      }
      state.changing.formUnion(pages)
      for page in pages where set(0, page, &state) { put(page, state) }
      return hasFound
    }
    fdatasync(file)
    if hasFound { tell() }
  }

  /// Records the checksums of the pages after a checkpoint.
  ///
  /// - Parameter isComplete: Whether the database has all of the log. SQLite has not synced it if a commit came meanwhile.
  func haveChanged(_ pages: Set<UInt32>, isComplete: Bool) {
    let isSynced = isComplete && fdatasync(database) == 0
    state.withLock { state in
      for page in pages { if let sum = sum(of: page) { _ = set(sum, page, &state) } }
      state.changing.subtract(pages)
      state.unsynced.formUnion(pages)
      guard isSynced else { return }
      for page in state.unsynced.sorted() { put(page, state) }
      state.unsynced = []
    }
  }

  /// Writes the checksums of the examined pages to the file. Syncs the database first, which can take a while.
  func settle() {
    let pages: Set<UInt32> = state.withLock { state in
      let pages = state.unsynced
      state.unsynced = []
      return pages
    }
    guard !pages.isEmpty, fdatasync(database) == 0 else { return }
    state.withLock { state in
      // A checkpoint records the pages that it changes itself.
      for page in pages.sorted() where !state.unsynced.contains(page) && !state.changing.contains(page) { put(page, state) }
    }
  }

  /// Sets a checksum in memory. A damaged page stays damaged.
  ///
  /// - Returns: Whether the checksum changed.
  private func set(_ sum: UInt64, _ page: UInt32, _ state: inout State) -> Bool {
    guard page > 0, page < 1 << 28 else { return false }
    let index = Int(page) - 1
    if index >= state.sums.count { state.sums += [UInt64](repeating: 0, count: index + 1 - state.sums.count) }
    guard state.sums[index] != sum, state.sums[index] != Self.damaged else { return false }
    state.sums[index] = sum
    return true
  }

  /// Writes the checksum of a page from memory to the file.
  private func put(_ page: UInt32, _ state: State) {
    guard page > 0, Int(page) <= state.sums.count else { return }
    var value = state.sums[Int(page) - 1].littleEndian
    _ = pwrite(file, &value, 8, off_t(Self.headerSize + 8 * (Int(page) - 1)))
  }

  // MARK: Checking

  /// The damage found by this host or an earlier one.
  var damage: Damage { state.withLock { $0.damage } }

  /// Calls `told` with all known damage: immediately if there is any, and on the checkpoint thread whenever a checkpoint finds more.
  func observe(_ told: @escaping @Sendable (Damage) -> Void) {
    state.withLock { $0.told = told }
    tell()
  }

  private func tell() {
    let news: (damage: Damage, told: @Sendable (Damage) -> Void)? = state.withLock { state in
      guard state.isUntold, let told = state.told else { return nil }
      state.isUntold = false
      return (state.damage, told)
    }
    if let news { news.told(news.damage) }
  }

  /// Compares a page with its checksum. Accepts a page without a checksum, and adds a damaged page to ``damage``.
  ///
  /// - Returns: Whether the page exists.
  func look(at page: UInt32) -> Bool {
    guard let sum = sum(of: page) else { return false }
    let hasFound = state.withLock { state in
      if state.changing.contains(page) { return false }
      let known = Self.known(page, state)
      guard known != 0 else {
        // `sum` may be from before a checkpoint changed the page.
        if let now = self.sum(of: page), set(now, page, &state) { state.unsynced.insert(page) }
        return false
      }
      guard known != Self.damaged, known != sum, self.sum(of: page) != known else { return false }
      mark(page, &state)
      return true
    }
    if hasFound { fdatasync(file) }
    return true
  }

  /// Records that the database ends before this page: later pages with a checksum were cut off.
  func end(before page: UInt32) {
    let hasFound = state.withLock { state in
      let before = state.damage.count
      for index in state.sums.indices.dropFirst(Int(page) - 1) where state.sums[index] != 0 && state.sums[index] != Self.damaged {
        let page = UInt32(index + 1)
        // A checkpoint may have added the page meanwhile.
        if !state.changing.contains(page), sum(of: page) == nil { mark(page, &state) }
      }
      return state.damage.count > before
    }
    if hasFound { fdatasync(file) }
  }

  private static func known(_ page: UInt32, _ state: State) -> UInt64 {
    page > 0 && Int(page) <= state.sums.count ? state.sums[Int(page) - 1] : 0
  }

  /// Marks a page as damaged.
  private func mark(_ page: UInt32, _ state: inout State) {
    if set(Self.damaged, page, &state) { put(page, state) }
    state.damage.add(page)
    state.isUntold = true
  }

  private func sum(of page: UInt32) -> UInt64? { Self.sum(of: page, in: database, pageSize: pageSize) }

  /// The checksum of a page on disk, neither 0 nor ``damaged``; nil if the database has no such page.
  private static func sum(of page: UInt32, in database: Int32, pageSize: Int) -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: pageSize, alignment: 8) { buffer in
      guard page > 0 else { return nil }
      let count = pread(database, buffer.baseAddress, pageSize, off_t(page - 1) * off_t(pageSize))
      guard count == pageSize else { return nil }
      // Four lanes of multiply and rotate: every single-bit error and every burst changes the checksum.
      var lanes: (UInt64, UInt64, UInt64, UInt64) = (1, 2, 3, 4)
      let words = buffer.bindMemory(to: UInt64.self)
      var index = 0
      while index + 3 < words.count {
        lanes.0 = mix(lanes.0, words[index])
        lanes.1 = mix(lanes.1, words[index + 1])
        lanes.2 = mix(lanes.2, words[index + 2])
        lanes.3 = mix(lanes.3, words[index + 3])
        index += 4
      }
      let sum = mix(mix(mix(lanes.0, lanes.1), lanes.2), lanes.3)
      return sum == 0 || sum == damaged ? 1 : sum
    }
  }

  private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let mixed = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
    return mixed << 29 | mixed >> 35
  }
}
