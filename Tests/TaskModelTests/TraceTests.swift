import TaskModel
import Testing

@Suite("Traces") struct TraceTests {
  private static let rest = "-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  private static let text = "00\(rest)"
  private static let notTexts: [String] = [
    "", "00", text.uppercased(), "\(text)-", "\(text)0", String(text.dropLast()), "ff\(rest)", "0g\(rest)", "é\(rest)", "01\(rest)x",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01", "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "01\(rest)-\(String(repeating: "x", count: 400))",
  ]

  @Test(
    "a traceparent is read and written",
    arguments: [text, "00-0000000000000000000000000000000f-0000000000000001-00", "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-01"])
  func valid(_ text: String) { #expect(TraceParent(text)?.description == text) }

  @Test("of a later version, the fields that this one knows are read")
  func later() {
    #expect(TraceParent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff")?.description == Self.text)
    #expect(TraceParent("fe\(Self.rest)-more")?.description == Self.text)
    #expect(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")?.description == Self.text)
  }

  @Test(
    "what is none is refused",
    arguments: notTexts)
  func invalid(_ text: String) {
    #expect(TraceParent(text) == nil)
    #expect(throws: RequestRefusal.self) { try TraceParent(field: text) }
  }

  @Test("the first attempt is a child, a retry and a repetition are roots with a link; each run is another span")
  func runs() throws {
    let parent = try #require(TraceParent(Self.text))
    let runs = (0..<1000).map { RunID(sequence: Int64($0), origin: 7) }
    let children = runs.map { RunTrace(of: $0, attempt: 1, isRepeating: false, parent: parent) }
    #expect(children.allSatisfy { $0.current.traceHigh == parent.traceHigh && $0.current.traceLow == parent.traceLow && $0.link == nil })
    #expect(children.allSatisfy { $0.current.span != parent.span && $0.current.isSampled })
    #expect(Set(children.map(\.current.span)).count == runs.count)
    for (attempt, isRepeating) in [(2, false), (1, true)] {
      let roots = runs.map { RunTrace(of: $0, attempt: attempt, isRepeating: isRepeating, parent: parent) }
      #expect(roots.allSatisfy { $0.link == parent && $0.current.traceHigh != parent.traceHigh })
      #expect(Set(roots.map(\.current.description)).count == runs.count)
      #expect(roots.allSatisfy { TraceParent($0.current.description) == $0.current })
    }
    #expect(RunTrace(of: runs[5], attempt: 1, isRepeating: false, parent: parent) == children[5])
  }
}
