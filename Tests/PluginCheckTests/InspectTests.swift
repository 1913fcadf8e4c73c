import TestSupport
import Foundation
import Testing

@Suite("plugins inspect", .timeLimit(.minutes(10)))
struct InspectTests {
  private static func inspect(_ fixture: CheckFixture, _ arguments: String...) async throws -> Program.Result {
    try await CheckProcess.run(try BuiltProgram.taskhost, ["plugins", "inspect", fixture.file] + arguments)
  }

  private static func rows(_ output: String) -> [String: String] {
    let rows = output.split(separator: "\n").compactMap { line -> (String, String)? in
      guard let gap = line.range(of: "  ") else { return nil }
      return (String(line[..<gap.lowerBound]), line[gap.upperBound...].trimmingCharacters(in: .whitespaces))
    }
    return Dictionary(rows) { first, _ in first }
  }

  @Test("shows the contract of the note, the handler limit and the shutdown hook, and runs nothing of the file")
  func note() async throws {
    let fixture = try await CheckFixture("note", ["WELL_BEHAVED"])
    let result = try await Self.inspect(fixture)
    #expect(result.status == 0, "\(result.errors)")
    let rows = Self.rows(result.output)
    #expect(rows["identifier"] == "org.example.fixture")
    #expect(rows["kind"] == "refresh")
    #expect(rows["budget"] == "its kind's")
    #expect(rows["version"] == "1.0.0")
    #expect(rows["handlers"] == "at most 1")
    #expect(rows["shutdown hook"] == "no")
    #expect(rows["signature"] == "none")
    #expect(try await Self.inspect(fixture, "--json").output.contains("\"note\":{\"identifier\":\"org.example.fixture\""))
  }

  @Test("says where there is no note, how many handlers there may be and that there is a hook")
  func withoutNote() async throws {
    let two = Self.rows(try await Self.inspect(try await CheckFixture("two_handlers")).output)
    #expect(two["handlers"] == "at most 2")
    #expect(two["note"]?.hasPrefix("none") == true)
    let hook = Self.rows(try await Self.inspect(try await CheckFixture("shutdown_hangs")).output)
    #expect(hook["shutdown hook"] == "yes")
  }

  @Test("names the key of a signature that lies beside the file, and says that it does not verify it")
  func signature() async throws {
    let fixture = try await CheckFixture("note", ["WELL_BEHAVED"])
    let key = try fixture.write("", to: "unused") + "-vendor"
    let program = try BuiltProgram.taskhost
    let made = try await CheckProcess.run(program, ["plugins", "keygen", key, "--json"])
    let id = try #require(try made.report()["id"] as? String)
    #expect(try await CheckProcess.run(program, ["plugins", "sign", fixture.file, "--key", key + ".key"]).status == 0)
    let result = try await Self.inspect(fixture)
    #expect(Self.rows(result.output)["signature"] == "by the key \(id), not verified: taskhost plugins verify", "\(result.output)")
    #expect(try await Self.inspect(fixture, "--json").output.contains("\"signature_key\":\"\(id)\""))
  }
}
