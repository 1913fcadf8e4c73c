import TaskFilters
import TaskModel
import Testing

@Suite("A filter of runs") struct RunFilterTests {
  private static let now = WallTime(unixMilliseconds: 1_700_000_000_000)

  @Test("becomes a query")
  func query() throws {
    let query = try RunQuery(filter: "identifier:a.*,b outcome:failed,crashed since:1h until:2023-11-14T22:13:20Z", now: Self.now)
    #expect(query.identifiers.map(\.text) == ["a.*", "b"])
    #expect(query.outcomes == [.failed, .crashed])
    #expect(query.since == Self.now + .seconds(-3600))
    #expect(query.until == Self.now)
  }

  @Test(
    "has words of its own",
    arguments: [
      ("state:failed", #"runs cannot be selected by "state"; there are: id, identifier, outcome, request, since, until"#),
      ("request:x", "is not the id of a request"), ("outcome:crash", #"did you mean "crashed"?"#),
    ])
  func errors(_ text: String, _ sentence: String) {
    let error = #expect(throws: FilterError.self) { try RunQuery(filter: text, now: Self.now) }
    #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
  }
}
