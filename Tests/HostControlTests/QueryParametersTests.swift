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

  @Test("what cannot be decoded, or is not known, is refused", arguments: ["tag=%", "tag=%z1", "tag=%4", "tag=%ff", "other=1", "%=1"])
  func refused(_ text: String) {
    let error = #expect(throws: RequestRefusal.self) { try QueryParameters(text, known: ["tag"]) }
    #expect(error?.code == .invalid)
  }
}
