import StoreTestSupport
import TaskModel
import Testing

@Suite("Record ids") struct RecordIDTests {
  @Test("an id is read back from its text, in either case")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let id = RequestID(sequence: Int64.random(in: 0...((1 << 60) - 1), using: &generator), origin: generator.next())
      let text = id.description
      #expect(text.utf8.count == 36)
      #expect(RequestID(text) == id)
      #expect(RequestID(text.uppercased()) == id)
    }
  }

  @Test("the text is a UUID of version 7 that begins with the millisecond")
  func layout() {
    let id = RequestID(sequence: 0x0123_4567_89AB_CDE, origin: 0)
    #expect(id.description == "01234567-89ab-7cde-8000-000000000000")
    #expect(RequestID(sequence: -1, origin: .max).description == "ffffffff-ffff-7fff-bfff-ffffffffffff")
  }

  @Test("ids and their texts have the same order, also between stores")
  func ordering() {
    var generator = SeededGenerator(seed: 2)
    let ids = (0..<500).map { _ in
      RunID(sequence: Int64.random(in: 0..<50, using: &generator), origin: UInt64.random(in: 0..<50, using: &generator))
    }
    #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    let (left, right) = (RunID(sequence: 1, origin: 1), RunID(sequence: 1, origin: 2))
    #expect(left < right && !(right < left))
  }

  @Test(
    "anything but a UUID of version 7 is refused",
    arguments: [
      "", "-", "01234567-89ab-7cde-8000-00000000000", "01234567-89ab-7cde-8000-0000000000000", "01234567-89ab-4cde-8000-000000000000",
      "01234567-89ab-7cde-c000-000000000000", "01234567-89ab-7cde-0000-000000000000", "0123456789ab7cde8000000000000000",
      "01234567-89ab-7cde-8000-00000000000g", "01234567_89ab-7cde-8000-000000000000", " 1234567-89ab-7cde-8000-000000000000",
      "01234567-89ab-7cde-8000-00000000000é", "{01234567-89ab-7cde-8000-000000000000}", "01234567-89ab-7cde-8000-000000000000\n",
    ])
  func rejects(_ text: String) { #expect(RequestID(text) == nil) }

  @Test("sequences rise when the clock stands still, is set back, or is out of range")
  func monotonic() {
    var ids = RecordIDGenerator(after: 0)
    var last: Int64 = 0
    func rises(_ now: Int64) {
      let next = ids.next(at: WallTime(unixMilliseconds: now))
      #expect(next > last)
      last = next
    }
    rises(1000)
    #expect(last == 4_096_000)
    for _ in 0..<5000 { rises(1000) }
    #expect(last == 4_101_000)
    for now in [999, 0, -1, .min, 1000, 1002] as [Int64] { rises(now) }
    #expect(last == 4_104_192)
    rises(.max)
    #expect(RequestID(sequence: last, origin: 0).sequence == last)
  }

  @Test("a generator goes on after what is in use")
  func resumes() {
    var ids = RecordIDGenerator(after: 5000 << 12)
    #expect(ids.next(at: WallTime(unixMilliseconds: 10)) == (5000 << 12) + 1)
  }
}
