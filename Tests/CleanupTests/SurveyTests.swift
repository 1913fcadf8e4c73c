import Testing

@testable import Cleanup

@Suite("Survey") struct SurveyTests {
  private static let now: Int64 = 1_000_000 * 1_000_000_000

  private struct File {
    var age: Int64
    var inode: UInt64
    var size: UInt64 = 10
    var links = 1
  }

  /// Files of 10 bytes each, of these ages in seconds.
  private func files(ages: [Int64]) -> [File] { ages.enumerated().map { File(age: $1, inode: UInt64($0 + 1)) } }

  /// The numbers of the names that go.
  private func chosen(_ files: [File], _ limits: Limits, capacity: Int = 1_000, linkCapacity: Int = 1_000) -> [Int] {
    var survey = Survey(limits: limits, now: Self.now, capacity: capacity, linkCapacity: linkCapacity)
    var passes = 0
    repeat {
      for file in files { survey.add(time: Self.time(file), inode: file.inode, size: file.size, hasOtherLinks: file.links > 1) }
      passes += 1
    } while !survey.endPass() && passes < 20
    #expect(passes < 10)
    var onLine = 0
    let gone = files.indices.filter { index in
      guard limits.isOldEnough(limits.age(of: Self.time(files[index]), at: Self.now)) else { return false }
      switch survey.cut.side(time: Self.time(files[index]), inode: files[index].inode) {
      case .goes: return true
      case .stays: return false
      case .counted:
        onLine += 1
        return onLine <= survey.cut.names
      }
    }
    #expect(survey.planned == gone.count)
    return gone
  }

  private static func time(_ file: File) -> Int64 { now - file.age * 1_000_000_000 }

  @Test("older than the age goes; exactly as old stays", arguments: [1, 3, 1000])
  func age(_ capacity: Int) {
    #expect(chosen(files(ages: [5, 30, 10, 20]), Limits(maxAge: .seconds(10), keepNewest: 1), capacity: capacity) == [1, 3])
  }

  @Test("while there are more bytes than the limit, the oldest goes", arguments: [1, 3, 1000])
  func bytes(_ capacity: Int) {
    #expect(chosen(files(ages: [1, 4, 3, 2]), Limits(maxTotalBytes: 25), capacity: capacity) == [1, 2])
    #expect(chosen(files(ages: [1, 4]), Limits(maxTotalBytes: 20), capacity: capacity) == [])
  }

  @Test("while there are more names than the limit, the oldest goes", arguments: [1, 3, 1000])
  func count(_ capacity: Int) {
    #expect(chosen(files(ages: [1, 4, 3, 2]), Limits(maxCount: 1), capacity: capacity) == [1, 2, 3])
    #expect(chosen(files(ages: [1, 4, 3, 2]), Limits(maxCount: 0), capacity: capacity) == [0, 1, 2, 3])
  }

  @Test("one limit that asks for it is enough")
  func together() {
    let files = files(ages: [50, 40, 30, 20, 10])
    #expect(chosen(files, Limits(maxAge: .seconds(45), maxTotalBytes: 20, maxCount: 4)) == [0, 1, 2])
    #expect(chosen(files, Limits(maxAge: .seconds(15), maxTotalBytes: 100, maxCount: 9)) == [0, 1, 2, 3])
  }

  @Test("the newest stay whatever the limits say", arguments: [(0, 3), (1, 2), (3, 0), (100, 0)])
  func keepNewest(_ keep: Int, _ removed: Int) {
    let limits = Limits(maxAge: .zero, maxTotalBytes: 0, maxCount: 0, keepNewest: keep)
    #expect(chosen(files(ages: [30, 20, 10]), limits).count == removed)
  }

  @Test("younger than the guard stays whatever the limits say")
  func minAge() {
    #expect(chosen(files(ages: [30, 20, 10]), Limits(maxCount: 0, minAge: .seconds(20))) == [0, 1])
  }

  @Test("a time in the future is young, and counts all the same")
  func future() {
    #expect(chosen(files(ages: [-100, 5]), Limits(maxAge: .zero, keepNewest: 1)) == [1])
    #expect(chosen(files(ages: [-100, 5]), Limits(maxCount: 0)) == [0, 1])
    #expect(chosen(files(ages: [-100, 5]), Limits(maxCount: 0, minAge: .seconds(1))) == [1])
  }

  @Test("files of one time go in the order of their inodes, whatever the directory's order", arguments: [1, 1000])
  func ties(_ capacity: Int) {
    let files = [30, 10, 20].map { File(age: 5, inode: $0) }
    #expect(chosen(files, Limits(maxCount: 1), capacity: capacity) == [1, 2])
  }

  @Test("a file with several names counts its bytes once, and gives them back with its last name", arguments: [1, 2, 1000])
  func hardLinks(_ capacity: Int) {
    var files = [File(age: 9, inode: 7, links: 2), File(age: 5, inode: 8), File(age: 9, inode: 7, links: 2)]
    #expect(chosen(files, Limits(maxTotalBytes: 20), capacity: capacity) == [])
    #expect(chosen(files, Limits(maxTotalBytes: 15), capacity: capacity) == [0, 2])
    files.append(File(age: 1, inode: 9))
    #expect(chosen(files, Limits(maxCount: 3), capacity: capacity) == [0])
  }

  @Test("of more files with several names than are kept, less is removed than asked for, never more")
  func manyLinks() {
    let files = (1...10).map { File(age: Int64($0), inode: UInt64($0), links: 2) }
    #expect(chosen(files, Limits(maxTotalBytes: 20), linkCapacity: 5).count <= 8)
  }

  @Test("with little memory it finds the same line as with much", arguments: 0..<40)
  func bounded(_ seed: UInt64) {
    var random = SplitMix(state: seed)
    let files = (0..<300).map { _ in
      File(
        age: Int64(random.next() % (seed % 3 == 0 ? 5 : 4_000_000_000)), inode: random.next() % 200, size: random.next() % 1000,
        links: random.next() % 5 == 0 ? 2 : 1)
    }
    // An inode has one size and one time.
    let consistent = files.map { file in files.first { $0.inode == file.inode } ?? file }.map { file in
      var file = file
      file.links = 2
      return file
    }
    let limits = Limits(
      maxAge: .seconds(3_000_000_000), maxTotalBytes: random.next() % 40_000, maxCount: Int(random.next() % 300),
      keepNewest: Int(random.next() % 20))
    #expect(chosen(consistent, limits, capacity: Int(random.next() % 40) + 1) == chosen(consistent, limits))
  }

  /// - Source: splitmix64, Steele and others, 2014.
  private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
      return value ^ (value >> 31)
    }
  }

  @Test("what is kept of a tree fits into the memory that the process may have")
  func capacity() {
    #expect(Survey.capacity(inMemory: .max) == 1_000_000 && Survey.capacity(inMemory: 256 << 20) == 1_000_000)
    #expect(Survey.capacity(inMemory: 64 << 20) == 279_620 && Survey.capacity(inMemory: 0) == 10_000)
  }
}
