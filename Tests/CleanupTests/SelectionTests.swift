import Testing

@testable import Cleanup

@Suite("Selection") struct SelectionTests {
  private static let now: Int64 = 1_000_000 * 1_000_000_000

  /// A table of files of 10 bytes each, named by the position of their ages (seconds).
  private func table(ages: [Int64], inodes: [UInt64]? = nil, links: UInt64 = 1) throws -> FileTable {
    var table = FileTable()
    for (index, age) in ages.enumerated() {
      var status = try FileStatus(descriptor: 0)
      status.identity = FileIdentity(device: 1, inode: inodes?[index] ?? UInt64(index + 1))
      status.modified = Self.now - age * 1_000_000_000
      status.size = 10
      status.links = links
      let isIn = Array("\(index)".utf8).withUnsafeBytes { table.append($0, in: 0, status) }
      #expect(isIn)
    }
    return table
  }

  /// The numbers of the files that go, if all but those in `kept` can be removed.
  private func chosen(_ table: FileTable, _ limits: Limits, kept: Set<Int> = []) -> [Int] {
    var selection = Selection(table, limits: limits, now: Self.now)
    var removed: [Int] = []
    while let index = selection.next() {
      if kept.contains(index) { continue }
      removed.append(index)
      _ = selection.remove(table[index], table.identity(table[index]))
    }
    return removed
  }

  @Test("older than the age goes, the oldest first; exactly as old stays")
  func age() throws {
    #expect(chosen(try table(ages: [5, 30, 10, 20]), Limits(maxAge: .seconds(10))) == [1, 3])
  }

  @Test("while there are more bytes than the limit, the oldest goes")
  func bytes() throws {
    #expect(chosen(try table(ages: [1, 4, 3, 2]), Limits(maxTotalBytes: 25)) == [1, 2])
    #expect(chosen(try table(ages: [1, 4]), Limits(maxTotalBytes: 20)) == [])
  }

  @Test("while there are more names than the limit, the oldest goes")
  func count() throws {
    #expect(chosen(try table(ages: [1, 4, 3, 2]), Limits(maxCount: 1)) == [1, 2, 3])
  }

  @Test("one limit that asks for it is enough")
  func together() throws {
    let table = try table(ages: [50, 40, 30, 20, 10])
    #expect(chosen(table, Limits(maxAge: .seconds(45), maxTotalBytes: 20, maxCount: 4)) == [0, 1, 2])
    #expect(chosen(table, Limits(maxAge: .seconds(15), maxTotalBytes: 100, maxCount: 9)) == [0, 1, 2, 3])
  }

  @Test("the newest stay whatever the limits say", arguments: [(0, 3), (1, 2), (3, 0), (100, 0)])
  func keepNewest(_ keep: Int, _ removed: Int) throws {
    #expect(chosen(try table(ages: [30, 20, 10]), Limits(maxAge: .zero, maxTotalBytes: 0, maxCount: 0, keepNewest: keep)).count == removed)
  }

  @Test("younger than the guard stays whatever the limits say")
  func minAge() throws {
    #expect(chosen(try table(ages: [30, 20, 10]), Limits(maxCount: 0, minAge: .seconds(20))) == [0, 1])
  }

  @Test("a time in the future is young, and counts all the same")
  func future() throws {
    #expect(chosen(try table(ages: [-100, 5]), Limits(maxAge: .zero)) == [1])
    #expect(chosen(try table(ages: [-100, 5]), Limits(maxCount: 0)) == [1, 0])
    #expect(chosen(try table(ages: [-100, 5]), Limits(maxCount: 0, minAge: .seconds(1))) == [1])
  }

  @Test("what cannot go still counts, and the next oldest goes in its place")
  func keptForAnotherReason() throws {
    #expect(chosen(try table(ages: [40, 30, 20, 10]), Limits(maxCount: 2), kept: [0]) == [1, 2])
  }

  @Test("files of one time go in the order of their inodes, whatever the directory's order")
  func ties() throws {
    #expect(chosen(try table(ages: [5, 5, 5], inodes: [30, 10, 20]), Limits(maxCount: 1)) == [1, 2])
  }

  @Test("a file with several names counts its bytes once, and gives them back with its last name")
  func hardLinks() throws {
    let table = try table(ages: [5, 5], inodes: [7, 7], links: 2)
    var selection = Selection(table, limits: Limits(maxCount: 0), now: Self.now)
    #expect(selection.totalBytes == 10)
    var freed: [UInt64] = []
    while let index = selection.next() { freed.append(selection.remove(table[index], table.identity(table[index]))) }
    #expect(freed == [0, 10])
    #expect(selection.totalBytes == 0)
  }

  @Test("a name outside the rule keeps the bytes from being given back")
  func linkOutside() throws {
    let table = try table(ages: [5], links: 2)
    var selection = Selection(table, limits: Limits(maxCount: 0), now: Self.now)
    let freed = selection.remove(table[0], table.identity(table[0]))
    #expect(freed == 0)
    #expect(selection.totalBytes == 0)
  }
}
