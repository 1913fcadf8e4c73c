/// Decides which files go: the oldest first, while a limit asks for it. Pure: knows the table and an instant, and touches nothing.
///
/// The order is by modification time, then inode, so that a second look at the same tree decides the same.
/// What is kept for another reason (it is open, say) still counts, and the next oldest goes in its place.
struct Selection: Sendable {
  private let limits: Limits
  private let now: Int64
  private let order: [Entry]
  private var position = 0
  private var links: [FileIdentity: FileTable.LinkCount]
  /// Bytes in the files that are left, hard links once.
  private(set) var totalBytes: UInt64
  /// Names that are left.
  private(set) var count: Int

  private struct Entry: Sendable {
    var modified: Int64
    var index: UInt32
  }

  /// - Parameter now: Nanoseconds since 1970.
  init(_ table: FileTable, limits: Limits, now: Int64) {
    self.limits = limits
    self.now = now
    var order: [Entry] = []
    order.reserveCapacity(table.count)
    var seen: Set<FileIdentity> = []
    var total: UInt64 = 0
    for index in 0..<table.count {
      let record = table[index]
      order.append(Entry(modified: record.modified, index: UInt32(index)))
      if !record.hasOtherLinks || seen.insert(table.identity(record)).inserted { total = total.addingClamped(record.size) }
    }
    order.sort { left, right in
      if left.modified != right.modified { return left.modified < right.modified }
      let (first, second) = (table[Int(left.index)].inode, table[Int(right.index)].inode)
      return first != second ? first < second : left.index < right.index
    }
    self.order = order
    self.links = table.links
    self.totalBytes = total
    self.count = table.count
  }

  /// The number in the table of the next file that has to go; nil when what is left may stay.
  mutating func next() -> Int? {
    guard position < order.count - min(limits.keepNewest, order.count) else { return nil }
    let entry = order[position]
    let (difference, overflow) = now.subtractingReportingOverflow(entry.modified)
    let age = overflow ? (entry.modified < 0 ? Int64.max : Int64.min) : difference
    if limits.minAge > .zero, age < limits.minAge.nanoseconds { return nil }
    let isTooOld = limits.maxAge.map { age > $0.nanoseconds } ?? false
    let isTooMuch = limits.maxTotalBytes.map { totalBytes > $0 } ?? false
    let areTooMany = limits.maxCount.map { count > $0 } ?? false
    guard isTooOld || isTooMuch || areTooMany else { return nil }
    position += 1
    return Int(entry.index)
  }

  /// Notes that a file is gone. Returns how many bytes that gave back: none while the file has another name anywhere.
  mutating func remove(_ record: FileRecord, _ identity: FileIdentity) -> UInt64 {
    count -= 1
    guard record.hasOtherLinks, var known = links[identity] else {
      totalBytes = totalBytes >= record.size ? totalBytes - record.size : 0
      return record.size
    }
    known.inTable -= 1
    known.everywhere -= 1
    links[identity] = known
    if known.inTable == 0 { totalBytes = totalBytes >= record.size ? totalBytes - record.size : 0 }
    return known.everywhere <= 0 ? record.size : 0
  }

  /// How many files go if every one of them can be removed.
  func planned(in table: FileTable) -> Int {
    var trial = self
    var planned = 0
    while let index = trial.next() {
      _ = trial.remove(table[index], table.identity(table[index]))
      planned += 1
    }
    return planned
  }
}

extension UInt64 {
  /// The sum, or the largest value when it does not fit.
  fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension Duration {
  /// Whole nanoseconds; the settings admit at most 100 years, which fit.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
