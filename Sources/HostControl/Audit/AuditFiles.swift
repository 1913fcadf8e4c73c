import Glibc
import HostThreads
import StrictText
import TaskModel

/// The files of the audit: `audit.jsonl`, to which lines are appended, and the older ones `audit.1.jsonl`, `audit.2.jsonl`, …
struct AuditFiles: Sendable {
  /// Where a file is full.
  static let mostBytes = 16 << 20
  /// How many older files are kept.
  static let older = 7
  /// A line is far shorter.
  private static let tailBytes: Int64 = 65_536

  private let directory: String

  init(in directory: String) { self.directory = directory }

  private func path(_ age: Int) -> String { directory + (age == 0 ? "/audit.jsonl" : "/audit.\(age).jsonl") }

  // MARK: Writing

  /// Opens the newest file for appending, and ends a line that a crash left unfinished.
  ///
  /// - Returns: The descriptor, the file's size, and the number of the last line that was ever written.
  func open() throws(ErrorNumber) -> (descriptor: Int32, bytes: Int, last: Int64) {
    let descriptor = Glibc.open(path(0), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .last }
    do {
      var status = stat()
      guard fstat(descriptor, &status) == 0, fchmod(descriptor, 0o600) == 0 else { throw ErrorNumber.last }
      let tail = try Self.tail(descriptor, size: Int64(status.st_size))
      if let last = tail.last, last != UInt8(ascii: "\n") { try WholeTransfer.write([UInt8(ascii: "\n")], to: descriptor) }
      let number = Self.lastNumber(tail) ?? (1...Self.older).lazy.compactMap { lastNumber(ofAge: $0) }.first ?? 0
      return (descriptor, Int(status.st_size) + 1, number)
    } catch {
      close(descriptor)
      throw error as? ErrorNumber ?? ErrorNumber(EIO)
    }
  }

  /// Whether a descriptor is the newest file still: another program may have moved or removed it.
  func isNewest(_ descriptor: Int32) -> Bool {
    var (opened, there) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && lstat(path(0), &there) == 0 && opened.st_ino == there.st_ino && opened.st_dev == there.st_dev
  }

  private func lastNumber(ofAge age: Int) -> Int64? {
    let descriptor = Glibc.open(path(age), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, let tail = try? Self.tail(descriptor, size: Int64(status.st_size)) else { return nil }
    return Self.lastNumber(tail)
  }

  private static func tail(_ descriptor: Int32, size: Int64) throws(ErrorNumber) -> [UInt8] {
    guard lseek(descriptor, off_t(max(0, size - tailBytes)), SEEK_SET) >= 0 else { throw .last }
    return try WholeTransfer.read(from: descriptor, atMost: Int(tailBytes))
  }

  private static func lastNumber(_ tail: [UInt8]) -> Int64? {
    tail.split(separator: UInt8(ascii: "\n")).lazy.reversed().compactMap { number(of: $0) }.first
  }

  /// Makes room for a new file: the oldest one goes.
  func rotate() throws(ErrorNumber) {
    for age in (0..<Self.older).reversed() where rename(path(age), path(age + 1)) != 0 && errno != ENOENT { throw .last }
  }

  // MARK: Reading

  /// The lines after a number, oldest first, at most `limit`. Blocks; any thread, also while lines are appended.
  func read(after last: Int64, since: WallTime?, limit: Int) throws(ErrorNumber) -> [(number: Int64, line: [UInt8])] {
    var found: [(number: Int64, line: [UInt8])] = []
    var last = last
    for age in (0...Self.older).reversed() {
      guard found.count < limit, !isBehind(age, last, since) else { continue }
      for line in try lines(ofAge: age) {
        // What was rotated meanwhile comes twice, and is taken once.
        guard found.count < limit else { break }
        guard let number = Self.number(of: line), number > last, since.map({ Self.time(of: line) >= $0.unixMilliseconds }) ?? true,
          JSONReader.isValid(Array(line))
        else { continue }
        found.append((number, Array(line)))
        last = number
      }
    }
    return found
  }

  /// The lines before a number, newest first, at most `limit`. Blocks; any thread, also while lines are appended.
  ///
  /// It reads from the end, so that the newest lines cost little, however large the files are.
  func read(before number: Int64, since: WallTime?, limit: Int) throws(ErrorNumber) -> [(number: Int64, line: [UInt8])] {
    var found: [(number: Int64, line: [UInt8])] = []
    var last = number
    for age in 0...Self.older {
      guard found.count < limit, !isBehind(age, 0, since) else { break }
      guard var lines = try LinesFromEnd(path(age)) else { continue }
      while found.count < limit, let line = try lines.next() {
        // What was rotated meanwhile comes twice, and is taken once.
        guard let number = Self.number(of: line), number < last else { continue }
        last = number
        if since.map({ Self.time(of: line) >= $0.unixMilliseconds }) ?? true, JSONReader.isValid(Array(line)) {
          found.append((number, Array(line)))
        }
      }
    }
    return found
  }

  /// Whether a file has only lines that are not wanted, as the first line of the next one shows.
  private func isBehind(_ age: Int, _ last: Int64, _ since: WallTime?) -> Bool {
    guard age > 0, let bytes = try? WholeTransfer.read(path(age - 1), atMost: 256, O_NOFOLLOW),
      let number = Self.number(of: bytes[...])
    else { return false }
    return number <= last || number - 1 == last || since.map { Self.time(of: bytes[...]) < $0.unixMilliseconds } ?? false
  }

  private func lines(ofAge age: Int) throws(ErrorNumber) -> [ArraySlice<UInt8>] {
    do throws(ErrorNumber) {
      return try WholeTransfer.read(path(age), atMost: 2 * Self.mostBytes, O_NOFOLLOW).split(separator: UInt8(ascii: "\n"))
    } catch  where error.code == ENOENT { return [] }
  }

  /// The number at a line's beginning; nil if it is no line of the audit.
  private static func number(of line: ArraySlice<UInt8>) -> Int64? { digits(of: line[...], after: "{\"number\":") }

  /// The lowest number if it has no time.
  private static func time(of line: ArraySlice<UInt8>) -> Int64 {
    guard let comma = line.firstIndex(of: UInt8(ascii: ",")) else { return .min }
    return digits(of: line[comma...], after: ",\"time_unix_ms\":") ?? .min
  }

  private static func digits(of text: ArraySlice<UInt8>, after prefix: String) -> Int64? {
    guard text.starts(with: prefix.utf8) else { return nil }
    let digits = text.dropFirst(prefix.utf8.count).prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    return Int64(String(decoding: digits, as: UTF8.self))
  }
}
