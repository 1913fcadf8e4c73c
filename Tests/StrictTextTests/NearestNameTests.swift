import Testing

@testable import StrictText

@Suite("Nearest name") struct NearestNameTests {
  @Test(
    "the distance is the fewest letters added, removed or changed",
    arguments: [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("", "", 0), ("grüße", "grusse", 3), ("ab", "ba", 2)])
  func distance(_ first: String, _ second: String, _ expected: Int) {
    #expect(NearestName.distance(first, second) == expected)
  }

  @Test("the nearest name is the one with the fewest changes, if they are few")
  func nearest() {
    #expect(NearestName.nearest(to: "stat_directory", among: ["state_directory", "plugin_directories"]) == "state_directory")
    #expect(NearestName.nearest(to: "level", among: ["level"]) == "level")
    #expect(NearestName.nearest(to: "zzz", among: ["level", "format"]) == nil)
    #expect(NearestName.nearest(to: "levle", among: []) == nil)
    #expect(NearestName.nearest(to: "lex", among: ["let", "led"]) == "let")
  }

  @Test("a name is not the nearest to one it shares no letter with")
  func nothingInCommon() {
    #expect(NearestName.nearest(to: "ab", among: ["cd"]) == nil)
    #expect(NearestName.nearest(to: "", among: ["a"]) == nil)
  }

  @Test("upper and lower case are the same")
  func letterCase() {
    #expect(NearestName.nearest(to: "LEVEL", among: ["level"]) == "level")
    #expect(NearestName.nearest(to: "a", among: ["b", "A"]) == "A")
  }

  @Test("how many slips are forgiven in a short text is the caller's choice")
  func slips() {
    #expect(NearestName.nearest(to: "u128", among: ["u16"]) == "u16")
    #expect(NearestName.nearest(to: "u128", among: ["u16"], slips: 1) == nil)
    #expect(NearestName.nearest(to: "horizons", among: ["horizon_s"], slips: 1) == "horizon_s")
  }

  @Test("a text of more than 64 bytes is no slip")
  func long() {
    let text = String(repeating: "a", count: 64)
    #expect(NearestName.nearest(to: text, among: [text + "b"]) == text + "b")
    #expect(NearestName.nearest(to: text + "b", among: [text]) == nil)
  }

  @Test("a hint names the nearest, or lists all, or is empty")
  func hints() {
    #expect(NearestName.hint(for: "levle", among: ["level", "format"]) == "; did you mean \"level\"?")
    #expect(NearestName.hint(for: "levle", among: ["level", "format"], quote: "") == "; did you mean level?")
    #expect(NearestName.hint(for: "zzz", among: ["level", "format"]) == "; there are: level, format")
    #expect(NearestName.hint(for: "zzz", among: []) == "")
  }
}
