import PluginTrust
import Testing

@Suite("Note of a plugin") struct PluginNoteTests {
  private static let required = ["format=1", "abi=1", "identifier=org.example.sync"]

  private func scan(_ note: String) throws -> PluginDirectoryScan {
    let directory = try PluginDirectory()
    try directory.compile(SamplePlugin.source + "\n" + note, to: "libNote.so")
    return try directory.scan()
  }

  @Test("every key is read")
  func complete() throws {
    let lines = Self.required + ["kind=processing", "budget_ms=90000", "version=1.2.3", "swift=6.3.1"]
    let note = try #require(try scan(SamplePlugin.note(lines: lines)).accepted.first?.elf.note)
    #expect(note.identifier == "org.example.sync")
    #expect(note.kind == .processing)
    #expect(note.budgetMilliseconds == 90_000)
    #expect(note.version == "1.2.3")
    #expect(note.swift == "6.3.1")
  }

  @Test("only format, abi and identifier are required", arguments: [4, 8])
  func minimal(_ alignment: Int) throws {
    let note = try #require(try scan(SamplePlugin.note(lines: Self.required, alignment: alignment)).accepted.first?.elf.note)
    #expect(note.kind == nil)
    #expect(note.budgetMilliseconds == nil)
  }

  @Test("what the author says that it needs is read in order, up to 16 lines; one more, or an empty one, is refused")
  func asks() throws {
    let asks = (0..<16).map { "network = [\($0 + 1)]" }
    let note = try #require(try scan(SamplePlugin.note(lines: Self.required + asks.map { "asks=\($0)" })).accepted.first?.elf.note)
    #expect(note.asks == asks)
    #expect(try scan(SamplePlugin.note(lines: Self.required + asks.map { "asks=\($0)" } + ["asks=x"])).accepted.isEmpty)
    #expect(try scan(SamplePlugin.note(lines: Self.required + ["asks="])).accepted.isEmpty)
  }

  @Test("a note written as a C string, with its zero at the end, is read")
  func terminated() throws {
    let text = SamplePlugin.note(".asciz \\\"format=1\\\\nabi=1\\\\nidentifier=a.b\\\"")
    #expect(try scan(text).accepted.first?.elf.note?.identifier == "a.b")
  }

  @Test("the note of another owner is none of ours")
  func foreign() throws {
    let scan = try scan(SamplePlugin.note(lines: ["anything"], owner: "somebody"))
    #expect(scan.acceptedNames == ["libNote.so"])
    #expect(scan.accepted.first?.elf.note == nil)
  }

  @Test(
    "a malformed note is refused",
    arguments: [
      SamplePlugin.note(lines: required + ["identifier=other"]),
      SamplePlugin.note(lines: ["format=2", "abi=1", "identifier=a"]),
      SamplePlugin.note(lines: ["abi=1", "identifier=a"]),
      SamplePlugin.note(lines: ["format=1", "identifier=a"]),
      SamplePlugin.note(lines: ["format=1", "abi=2", "identifier=a"]),
      SamplePlugin.note(lines: ["format=1", "abi=1"]),
      SamplePlugin.note(lines: ["format=1", "abi=1", "identifier=.."]),
      SamplePlugin.note(lines: ["format=1", "abi=1", "identifier=" + String(repeating: "a", count: 129)]),
      SamplePlugin.note(lines: required + ["kind=cron"]),
      SamplePlugin.note(lines: required + ["budget_ms=-1"]),
      SamplePlugin.note(lines: required + ["budget_ms=99999999999999999999"]),
      SamplePlugin.note(lines: required + ["budget_ms="]),
      SamplePlugin.note(lines: required + ["colour=red"]),
      SamplePlugin.note(lines: required + ["no equals sign"]),
      SamplePlugin.note(lines: required + ["version=\\\\t"]),
      SamplePlugin.note(".ascii \\\"format=1\\\\nabi=1\\\\nidentifier=a\\\\nversion=\\\"\\n.byte 0xff, 0xfe"),
      SamplePlugin.note(".ascii \\\"format=1\\\\nabi=1\\\\nidentifier=a\\\\nversion=\\\"\\n.byte 0, 65"),
      SamplePlugin.note(".fill 4097, 1, 65"),
      SamplePlugin.note(".fill 0"),
      SamplePlugin.note(lines: required, type: "0x54480002"),
      SamplePlugin.note(lines: required) + SamplePlugin.note(lines: required),
    ])
  func malformed(_ note: String) throws {
    let scan = try scan(note)
    #expect(scan.refusals == ["libNote.so": .badNote], "\(scan.refused)")
  }

  @Test("an unaligned note is refused")
  func unaligned() throws {
    let directory = try PluginDirectory()
    let path = try directory.compile(SamplePlugin.source + SamplePlugin.note(lines: Self.required), to: "libNote.so")
    var patch = ElfPatch(bytes: try SamplePlugin.read(path))
    for header in patch.headers(4) { patch.set(header + 48, UInt64(1)) }
    try directory.write(patch.bytes, to: "libNote.so")
    #expect(try directory.scan().refusals == ["libNote.so": .badNote])
  }
}
