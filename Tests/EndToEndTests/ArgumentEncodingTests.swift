import TestSupport
import Testing

@Suite("Encoding of arguments", .timeLimit(.minutes(5))) struct ArgumentEncodingTests {
  @Test("an argument that is not UTF-8 is refused by its place, before anything is done; one that is, is used")
  func arguments() async throws {
    func show(_ id: String) async throws -> Program.Result {
      let line = "exec \(try BuiltProgram.taskhost) tasks show --socket /nonexistent \"$(printf '\(id)')\""
      return try await Program.run("/bin/sh", ["-c", line], environment: Program.plainEnvironment)
    }
    let refused = try await show("a\\377")
    #expect(refused.status == 2 && refused.errors.contains("argument 5, 'a\u{FFFD}', is not UTF-8"), "\(refused)")
    let taken = try await show("a\\303\\274")
    #expect(taken.status == 6 && taken.errors.contains("aü: no id of a request begins so"), "\(taken)")
  }
}
