import TaskModel
import Testing

@testable import HostControl

@Suite("Query parameters") struct QueryParametersTests {
  @Test("names and values are decoded; a parameter may be repeated where a list is meant")
  func decoded() throws {
    let query = try QueryParameters("tag=a%20b%C3%A9&state=pending&state=failed", known: ["tag", "state"])
    #expect(try query.one("tag") == "a bé")
    #expect(try query.states() == [.pending, .claimed, .failed])
    #expect(try query.limit(preset: 7) == 7)
  }

  @Test("a flag is true or false, and nothing else, also not an empty text")
  func flags() throws {
    #expect(try QueryParameters("all=true", known: ["all"]).flag("all"))
    #expect(try !QueryParameters("all=false", known: ["all"]).flag("all") && !QueryParameters("", known: ["all"]).flag("all"))
    for text in ["all=", "all", "all=1", "all=TRUE"] {
      #expect(throws: RequestRefusal.self, "\(text)") { try QueryParameters(text, known: ["all"]).flag("all") }
    }
  }

  @Test("what cannot be decoded, or is not known, is refused", arguments: ["tag=%", "tag=%z1", "tag=%4", "tag=%ff", "other=1", "%=1"])
  func refused(_ text: String) {
    let error = #expect(throws: RequestRefusal.self) { try QueryParameters(text, known: ["tag"]) }
    #expect(error?.code == .invalid)
  }
}
