import TestSupport
import Foundation
import Testing

/// Typed handlers under the real host: an ordinary C function that a plugin registers with a signature.
@Suite("Typed handlers", .timeLimit(.minutes(20)))
struct TypedHandlerTests {
  private static let identifier = "test.typed"

  /// Gives `body` a host with the plugin `typed.c` in that build.
  private func withPlugin(
    _ isolation: Isolation = .process, _ arguments: [String] = [], _ configuration: String = "",
    _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await add(host, arguments)
      try host.configure(configuration)
      try await host.start()
      try await body(host)
    }
  }

  private func add(_ host: HostProcess, _ arguments: [String]) async throws {
    try await host.add("typed.so", "typed", arguments + ["-DIDENTIFIER=\"\(Self.identifier)\""])
  }

  private func build(_ signature: String, _ function: String) -> [String] { ["-DSIGNATURE=\"\(signature)\"", "-DFUNCTION=\(function)"] }

  /// Submits a payload and waits for the end of its run.
  private func run(_ host: HostProcess, _ payload: String) async throws -> JSON {
    try await host.submitAndWait(Self.identifier, payload)
  }

  // MARK: Calls

  @Test("a function gets its arguments and the run, and its return value decides", arguments: Isolation.allCases)
  func arguments(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let payload = #"{"horizon_s":9007199254740993,"account":"grüße","ratio":0.25,"dry_run":true,"blob":"AQL/"}"#
      let succeeded = try await run(host, payload)
      #expect(succeeded["outcome"]?.string == "succeeded", "\(succeeded)")
      let output = succeeded["run"]?["output"]
      #expect(output?["account"]?.string == "grüße")
      #expect(output?["horizon_s"]?.integer == 9_007_199_254_740_993)
      #expect(output?["ratio"] == .number(0.25))
      #expect(output?["dry_run"]?.bool == true)
      #expect(output?["length"]?.integer == 3)
      #expect(output?["last"]?.integer == 255)

      let failed = try await run(host, #"{"horizon_s":-1,"account":"","ratio":1e3,"dry_run":false,"blob":"","small":7}"#)
      #expect(failed["outcome"]?.string == "failed", "\(failed)")
      #expect(failed["run"]?["message"]?.string == "the function returned 7, which is not a success (success = \"zero\")")
      #expect(failed["run"]?["output"]?["last"]?.integer == -1)
    }
  }

  @Test("a function that returns a result chooses its outcome", arguments: Isolation.allCases)
  func result(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("result(i32 result, task)", "choose")) { host in
      let noop = try await run(host, #"{"result":1}"#)
      #expect(noop["run"]?["outcome"]?.string == "noop", "\(noop)")
      #expect(noop["run"]?["output"] == .integer(1))
      let failed = try await run(host, #"{"result":4}"#)
      #expect(failed["outcome"]?.string == "failed")
      #expect(failed["run"]?["message"]?.string == "chosen")
      let outOfRange = try await run(host, #"{"result":99}"#)
      #expect(outOfRange["outcome"]?.string == "failed")
      #expect(outOfRange["run"]?["message"]?.string?.contains("99") == true, "\(outOfRange)")
    }
  }

  @Test("the payload itself is there too, as it was submitted", arguments: Isolation.allCases)
  func payload(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("str(i32 number, task)", "payload_of")) { host in
      let answer = try await run(host, #"{ "number" : 5 }"#)
      #expect(answer["run"]?["output"]?.string == #"{ "number" : 5 }"#, "\(answer)")
    }
  }

  @Test("arguments of tens of kilobytes reach a worker", arguments: Isolation.allCases)
  func large(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let blob = Data(repeating: 0x41, count: 45_000).base64EncodedString()
      let answer = try await run(host, #"{"horizon_s":0,"account":"a","ratio":0,"dry_run":false,"blob":"\#(blob)"}"#)
      #expect(answer["run"]?["output"]?["length"]?.integer == 45_000, "\(answer)")
    }
  }

  @Test("a typed function expires as any handler does", arguments: Isolation.allCases)
  func expiration(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("void(task)", "wait_for_ever"), "[plugin.\"test.typed\"]\nbudget = \"300ms\"\n") { host in
      let answer = try await run(host, "{}")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect(answer["run"]?["stop_reason"]?.string == "budget", "\(answer)")
    }
  }

  @Test("a typed function that crashes costs its worker alone")
  func crash() async throws {
    try await withPlugin(.process, build("i32(i32 number)", "crash"), "[retry]\nattempts = 1\n") { host in
      let answer = try await run(host, #"{"number":1}"#)
      #expect(answer["run"]?["outcome"]?.string == "crashed", "\(answer)")
      #expect(host.isRunning)
    }
  }

  // MARK: Submissions that do not fit

  @Test(
    "a payload that does not fit is refused when it is submitted, naming the argument",
    arguments: [
      (#"{"number":2147483648}"#, "argument number: 2147483648 does not fit i32 (-2147483648 to 2147483647)"),
      (#"{"number":"1"}"#, "argument number: a string is not of type i32: give a whole number"),
      (#"{"number":1.5}"#, "argument number: 1.5 is not of type i32: write a whole number without fraction or exponent"),
      (#"{"numbr":1}"#, "argument numbr: the handler takes no argument of that name; did you mean number?"),
      (#"{}"#, "argument number: it is missing and not optional: give a whole number (i32)"),
      (#"[1]"#, #"the payload must be a JSON object with the arguments by name, like {"name": value}: it is an array"#),
    ])
  func refused(_ payload: String, _ sentence: String) async throws {
    try await withPlugin(.process, build("i32(i32 number)", "crash")) { host in
      let result = try await host.cli("submit", Self.identifier, "--payload", payload)
      #expect(result.status == 6, "\(result)")
      #expect(result.errors.contains(sentence), "\(result.errors)")
      let response = try await host.post("/v1/requests", #"{"identifier":"test.typed","payload":\#(payload)}"#)
      #expect(response.status == 422 || response.status == 400, "\(response)")
      let error = try response.json()["error"]
      #expect(error?["field"]?.string == "payload", "\(response)")
      #expect(error?["message"]?.string?.contains(sentence) == true, "\(response)")
      #expect(try await host.json("tasks", "list")["requests"]?.array.isEmpty == true)
    }
  }

  @Test("bytes that are no JSON at all are refused as any other payload")
  func noJSON() async throws {
    try await withPlugin(.process, build("i32(i32 number)", "crash")) { host in
      let file = try host.directory.file("payload", Data([0x7B, 0xFF]))
      let result = try await host.cli("submit", Self.identifier, "--payload", "@\(file)")
      #expect(result.status == 6, "\(result)")
      #expect(result.errors.contains("the payload is not JSON: line 1, column 2"), "\(result.errors)")
    }
  }

  @Test("of an array of submissions none is taken when one does not fit")
  func atomic() async throws {
    try await withPlugin(.process, build("result(i32 result, task)", "choose")) { host in
      let good = #"{"identifier":"test.typed","payload":{"result":0},"earliest_begin":"2099-01-01T00:00:00Z"}"#
      let response = try await host.post("/v1/requests", "[\(good),{\"identifier\":\"test.typed\",\"payload\":{\"result\":null}}]")
      #expect(response.status == 422 || response.status == 400, "\(response)")
      #expect(try response.json()["error"]?["field"]?.string == "[1].payload", "\(response)")
      #expect(try await host.json("tasks", "list")["requests"]?.array.isEmpty == true)
    }
  }

  @Test("a simulated launch of a handler with required arguments is refused, and so is a schedule")
  func withoutPayload() async throws {
    try await withPlugin(.process, build("result(i32 result, task)", "choose")) { host in
      let result = try await host.cli("simulate", "launch", Self.identifier)
      #expect(result.status == 6, "\(result)")
      #expect(result.errors.contains("argument result: it is missing"), "\(result.errors)")
      try await host.terminate()
      try host.configure("[plugin.\"test.typed\"]\nschedule = \"every 6h\"\n")
      let failure = try await host.failure()
      #expect(failure.status == 78)
      #expect(failure.errors.contains("plugin test.typed: schedule:"), "\(failure.errors)")
      #expect(failure.errors.contains("argument result: it is missing"), "\(failure.errors)")
    }
  }

  @Test("a plugin's own submission that does not fit is refused to it", arguments: Isolation.allCases)
  func submittedByPlugin(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("str(str payload, task)", "submit")) { host in
      let answer = try await run(host, #"{"payload":"{\"payload\":7}"}"#)
      let output = try #require(answer["run"]?["output"]?.string, "\(answer)")
      #expect(output.hasPrefix("-1 "), "\(output)")
      #expect(output.contains("argument payload: 7 is not of type str: give a string"), "\(output)")
    }
  }

  @Test("a launch submission that does not fit is refused to the plugin", arguments: Isolation.allCases)
  func submittedAtLaunch(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("i32(i32 number)", "crash") + [#"-DLAUNCH_PAYLOAD="{\"number\":true}""#]) { host in
      let reason = try #require(try await host.plugin("typed.so")["reason"])
      #expect(reason["message"]?.string?.contains("argument number: true is not of type i32") == true, "\(reason)")
    }
  }

  @Test("a request that was stored for another signature fails with a sentence", arguments: Isolation.allCases)
  func signatureChanged(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, build("result(i32 result, task)", "choose")) { host in
      let submitted = try await host.cli("submit", Self.identifier, "--payload", #"{"result":0}"#, "--after", "1h", "--json")
      let id = try #require(try submitted.json()["id"]?.string, "\(submitted)")
      try await host.terminate()
      try await add(host, build("i32(str account, i32 number?)", "crash"))
      try host.configure("")
      try await host.start()
      _ = try await host.json("simulate", "launch", Self.identifier)
      let record = try await host.request(id, is: "failed")
      #expect(
        record["last_message"]?.string?.contains("another signature than when it was submitted: argument result") == true, "\(record)")
    }
  }

  // MARK: Registrations that are refused

  @Test(
    "a registration whose signature or function is wrong is refused, with a sentence",
    arguments: [
      (["-DSIGNATURE=\"i32(i46 number)\""], "signature, column 5: i46 is not a type; did you mean i16?"),
      (["-DSIGNATURE=\"i32(str)\""], "signature, column 8: argument 1 needs a name"),
      (["-DSIGNATURE=NULL"], "a function is set, its signature is NULL: set both"),
      (["-DFUNCTION=NULL"], "a signature is set, its function is NULL: set both"),
      (["-DSIGNATURE=NULL", "-DFUNCTION=NULL"], "handler is NULL: set it, or a signature with its function"),
      (["-DHANDLER=ordinary"], "a registration has either a handler or these two"),
    ])
  func badRegistration(_ arguments: [String], _ sentence: String) async throws {
    try await withPlugin(.process, arguments) { host in
      let reason = try #require(try await host.plugin("typed.so")["reason"])
      #expect(reason["code"]?.string == "invalid_registration", "\(reason)")
      #expect(reason["message"]?.string?.contains(sentence) == true, "\(reason)")
    }
  }
}
