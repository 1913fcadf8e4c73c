import FoundationEssentials
import Testing

@testable import Cleanup

@Suite("Payload") struct PayloadTests {
  private func decode(_ json: String) throws -> CleanupPayload {
    try JSONDecoder().decode(CleanupPayload.self, from: Data(json.utf8))
  }

  private func rules() throws -> [Rule] {
    try ["logs", "cache"].map {
      Rule(
        name: $0, directory: "/tmp/\($0)", glob: try Glob("*"), recursive: false, exclude: [], limits: .everything,
        removeEmptyDirectories: false,
        dryRun: $0 == "cache")
    }
  }

  @Test("nothing said means every rule as it is", arguments: ["{}", "null", #"{"rule": null, "dry_run": false}"#])
  func all(_ json: String) throws {
    #expect(try decode(json).apply(to: try rules()) == (try rules()))
  }

  @Test("one rule, as a dry run")
  func one() throws {
    let chosen = try decode(#"{"rule": "logs", "dry_run": true}"#).apply(to: try rules())
    #expect(chosen.map(\.name) == ["logs"])
    #expect(chosen.allSatisfy { $0.dryRun })
  }

  @Test("a payload cannot lift the dry run of the settings")
  func cannotLift() throws {
    #expect(try decode(#"{"rule": "cache", "dry_run": false}"#).apply(to: try rules()).allSatisfy { $0.dryRun })
  }

  @Test("a rule that is not there is refused with the nearest name")
  func unknownRule() throws {
    let payload = try decode(#"{"rule": "lgos"}"#)
    let error = #expect(throws: PayloadError.self) { try payload.apply(to: try rules()) }
    #expect(error?.description == #"the payload names no rule: "lgos"; did you mean "logs"?"#)
  }

  @Test("wrong members are refused", arguments: [#"{"dryrun": true}"#, #"{"dry_run": "yes"}"#, #"{"rule": 1}"#, "[]"])
  func wrong(_ json: String) {
    #expect(throws: PayloadError.self) { try decode(json) }
  }
}
