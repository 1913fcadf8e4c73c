/// Finds the boundary between files to remove and files to keep: the oldest are removed while a limit requires it.
///
/// Pure: it receives times, inodes and sizes, and has no side effects. Its memory is bounded: it keeps and sorts up to `capacity` files.
/// If there are more, it counts them in 65,536 time spans, and needs another pass over all files to examine the one span that contains the
/// boundary.
///
/// Files are ordered by time, then inode, so that a second pass over the same tree gives the same result. All names of a file are adjacent.
struct Survey: Sendable {
  private let limits: Limits
  private let now: Int64
  private let capacity: Int
  private let linkCapacity: Int

  private struct Record: Sendable {
    var time: UInt64
    var inode: UInt64
    /// The size; the highest bit says that the file has several names.
    var size: UInt64
  }

  private static let severalNames: UInt64 = 1 << 63

  /// One span of time, or of inodes at one time.
  private struct Span: Sendable {
    var count = 0
    var bytes: UInt64 = 0
  }

  // The totals of all files, known after the first pass.
  private var count = 0
  private var totalBytes: UInt64 = 0
  private var tooOld = 0
  private var oldEnough = 0
  private var isFirstPass = true

  // This pass examines files whose key begins with `digits` digits of `prefix`; `before` are the totals before them.
  private var digits = 0
  private var prefix = (time: UInt64(0), inode: UInt64(0))
  private var before = Span()
  private var records: [Record] = []
  private var spans: [Span] = []
  /// Files with several names whose bytes are counted.
  private var linked: Set<UInt64> = []

  /// Files with several names beyond the capacity: their bytes are not counted, so less is removed than required, never more.
  private(set) var uncountedLinks: UInt64 = 0
  /// The boundary, once ``endPass()`` has returned true.
  private(set) var cut = Cut.nothing
  /// The number of names to remove, if all can be removed.
  private(set) var planned = 0

  /// - Parameters:
  ///   - now: Nanoseconds since 1970.
  ///   - capacity: The maximum number of files to keep, 24 bytes each.
  ///   - linkCapacity: The maximum number of files with several names to track in addition.
  init(limits: Limits, now: Int64, capacity: Int = 1_000_000, linkCapacity: Int = 250_000) {
    self.limits = limits
    self.now = now
    self.capacity = max(1, capacity)
    self.linkCapacity = linkCapacity
  }

  /// The capacity for a process limited to `limit` bytes: a sixth of it, because a growing array needs more.
  static func capacity(inMemory limit: UInt64) -> Int { max(10_000, Int(min(1_000_000, limit / 6 / 40))) }

  /// Whether a limit needs to know all files before it can judge one.
  static func isNeeded(for limits: Limits) -> Bool {
    limits.maxTotalBytes != nil || limits.maxCount != nil || limits.keepNewest > 0
  }

  /// Adds one name of a file. `time` is in nanoseconds since 1970.
  mutating func add(time: Int64, inode: UInt64, size: UInt64, hasOtherLinks: Bool) {
    let record = Record(
      time: UInt64(bitPattern: time) ^ 1 << 63, inode: inode,
      size: min(size, .max >> 1) | (hasOtherLinks ? Self.severalNames : 0))
    if !isFirstPass, !isInside(record) { return }
    let bytes = countedBytes(record)
    if isFirstPass {
      count += 1
      totalBytes = totalBytes.addingClamped(bytes)
      let age = limits.age(of: time, at: now)
      if let maxAge = limits.maxAge, age > maxAge.wholeNanoseconds { tooOld += 1 }
      if limits.isOldEnough(age) { oldEnough += 1 }
    }
    if spans.isEmpty {
      if records.count < capacity { return records.append(record) }
      // Too many files to keep: convert the kept files to counts. `linked` records which bytes were counted.
      spans = Array(repeating: Span(), count: 1 << 16)
      var seen: Set<UInt64> = []
      for record in records {
        let isCounted = record.size & Self.severalNames == 0 || (linked.contains(record.inode) && seen.insert(record.inode).inserted)
        note(record, isCounted ? record.size & ~Self.severalNames : 0)
      }
      records = []
    }
    note(record, bytes)
  }

  /// Ends a pass over all files. Returns false if it needs another pass over the same files.
  mutating func endPass() -> Bool {
    isFirstPass = false
    guard !isReached(before) else { return true }
    linked = []
    if spans.isEmpty {
      findLine()
      return true
    }
    for (index, span) in spans.enumerated() where span.count > 0 {
      let after = Span(count: before.count + span.count, bytes: before.bytes.addingClamped(span.bytes))
      if isReached(after) {
        return narrow(to: UInt64(index), span)
      }
      before = after
    }
    cut = .everything
    planned = min(before.count, oldEnough)
    return true
  }

  // MARK: Implementation

  /// Whether removing this many of the oldest names and bytes satisfies the limits.
  private func isReached(_ span: Span) -> Bool {
    if span.count >= min(count - min(count, limits.keepNewest), oldEnough) { return true }
    let surplus = limits.maxCount.map { count - min(count, $0) } ?? 0
    let excess = limits.maxTotalBytes.map { totalBytes > $0 ? totalBytes - $0 : 0 } ?? 0
    return span.count >= max(tooOld, surplus) && span.bytes >= excess
  }

  private mutating func countedBytes(_ record: Record) -> UInt64 {
    guard record.size & Self.severalNames != 0 else { return record.size }
    if linked.contains(record.inode) { return 0 }
    guard linked.count < linkCapacity else {
      if isFirstPass { uncountedLinks += 1 }
      return 0
    }
    linked.insert(record.inode)
    return record.size & ~Self.severalNames
  }

  /// The index of the span that a file is in.
  private func digit(_ record: Record) -> Int {
    let word = digits < 4 ? record.time : record.inode
    return Int(truncatingIfNeeded: word >> UInt64(48 - 16 * (digits & 3))) & 0xFFFF
  }

  private func isInside(_ record: Record) -> Bool {
    switch digits {
    case 0: true
    case 1..<4: (record.time ^ prefix.time) >> UInt64(64 - 16 * digits) == 0
    case 4: record.time == prefix.time
    default: record.time == prefix.time && (record.inode ^ prefix.inode) >> UInt64(128 - 16 * digits) == 0
    }
  }

  private mutating func note(_ record: Record, _ bytes: UInt64) {
    let index = digit(record)
    spans[index].count += 1
    spans[index].bytes = spans[index].bytes.addingClamped(bytes)
  }

  private mutating func narrow(to index: UInt64, _ span: Span) -> Bool {
    let shift = UInt64(48 - 16 * (digits & 3))
    if digits < 4 { prefix.time |= index << shift } else { prefix.inode |= index << shift }
    digits += 1
    spans = []
    guard digits < 8 else {
      // A single file with more names than capacity. Its bytes are freed with the last name.
      let needed = (1..<span.count).first { isReached(Span(count: before.count + $0, bytes: before.bytes)) } ?? span.count
      cut = Cut(time: Int64(bitPattern: prefix.time ^ 1 << 63), inode: prefix.inode, names: needed)
      planned = before.count + needed
      return true
    }
    return false
  }

  private mutating func findLine() {
    records.sort { $0.time != $1.time ? $0.time < $1.time : $0.inode < $1.inode }
    var passed = before
    var names = 0
    for (index, record) in records.enumerated() {
      if isReached(passed) { break }
      names = index > 0 && isSameFile(record, records[index - 1]) ? names + 1 : 1
      cut = Cut(time: Int64(bitPattern: record.time ^ 1 << 63), inode: record.inode, names: names)
      passed.count += 1
      // The bytes are freed with the last name.
      let isLast = index + 1 == records.count || !isSameFile(record, records[index + 1])
      if isLast { passed.bytes = passed.bytes.addingClamped(record.size & ~Self.severalNames) }
    }
    planned = passed.count
    records = []
  }

  private func isSameFile(_ one: Record, _ other: Record) -> Bool { one.time == other.time && one.inode == other.inode }
}

extension UInt64 {
  /// The sum, saturating at the largest value.
  fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

/// The boundary between files to remove and files to keep, ordered by time, then inode.
struct Cut: Sendable, Equatable {
  var time: Int64
  var inode: UInt64
  /// The number of names to remove of the file on the boundary.
  var names: Int

  /// The side of the boundary that a file is on.
  enum Side: Sendable {
    case goes
    /// On the boundary: ``names`` of its names are removed.
    case counted
    case stays
  }

  static let nothing = Cut(time: .min, inode: 0, names: 0)
  static let everything = Cut(time: .max, inode: .max, names: .max)

  func side(time: Int64, inode: UInt64) -> Side {
    if time != self.time { return time < self.time ? .goes : .stays }
    if inode != self.inode { return inode < self.inode ? .goes : .stays }
    return .counted
  }
}

/// Feeds a survey from a walk, without the files that cannot be removed anyway.
struct SurveyVisitor: TreeVisitor {
  var survey: Survey
  let ageBy: AgeTimes
  let excluded: Set<UInt64>
  var seenFiles: UInt64 = 0
  var matchedFiles: UInt64 = 0

  mutating func seen() { seenFiles += 1 }

  mutating func visit(_ name: UnsafeRawBufferPointer, in directory: DirectoryNode, _ status: FileStatus) throws(SweepInterruption) {
    matchedFiles += 1
    if !excluded.isEmpty, excluded.contains(status.identity.inode) { return }
    survey.add(time: ageBy.time(of: status), inode: status.identity.inode, size: status.size, hasOtherLinks: status.links > 1)
  }
}
