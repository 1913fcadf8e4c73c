import TaskModel
import Testing

@Suite("The beginning of an id") struct RecordIDPrefixTests {
  private static let id = RequestID(sequence: 0x019_76C1_E123_4ABC, origin: 0x1234_5678_9ABC_DEF0)

  @Test("matches at every length, in both cases, and its range has the id")
  func all() throws {
    let text = Self.id.description
    for length in 1...36 {
      let prefix = try #require(RecordIDPrefix(String(text.prefix(length))), "\(text.prefix(length))")
      #expect(prefix.matches(Self.id))
      #expect(prefix.sequences.contains(Self.id.sequence))
      #expect(RecordIDPrefix(text.prefix(length).uppercased())?.matches(Self.id) == true)
    }
  }

  @Test("is narrow: the next id has another")
  func narrow() throws {
    let next = RequestID(sequence: Self.id.sequence + 1, origin: Self.id.origin)
    let prefix = try #require(RecordIDPrefix(String(Self.id.description.prefix(18))))
    #expect(!prefix.matches(next))
    #expect(prefix.sequences == Self.id.sequence...Self.id.sequence)
    #expect(RecordIDPrefix(String(Self.id.description.prefix(17)))?.matches(next) == true)
    let other = RequestID(sequence: Self.id.sequence, origin: Self.id.origin + 1)
    #expect(RecordIDPrefix(Self.id.description)?.matches(other) == false)
  }

  @Test(
    "is none of what no id begins with",
    arguments: ["", "x", "-", "0197-", "01976c1e0", "01976c1e-1234-4", "01976c1e-0000-7000-8000-0000000000000", "é", "０"])
  func none(_ text: String) { #expect(RecordIDPrefix(text) == nil) }
}
