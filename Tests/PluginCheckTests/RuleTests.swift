import TestSupport
import Foundation
import Testing

/// Each fixture breaks one rule, in the case that is named; compiled with WELL_BEHAVED it does the same work and keeps the rule.
@Suite("Rules that plugins check tries", .timeLimit(.minutes(20)))
struct RuleTests {
  struct Breach: Sendable, CustomTestStringConvertible {
    let fixture: String
    var definitions: [String] = []
    let tried: String
    let seen: String
    var testDescription: String { "\(fixture) \(definitions.joined()) in \(tried)" }
  }

  static let breaches = [
    Breach(fixture: "result", tried: "run", seen: "returned 17"),
    Breach(fixture: "ignores_expiration", tried: "expire-in-run", seen: "had not returned when its grace was over"),
    Breach(fixture: "ignores_expiration", tried: "expire-at-once", seen: "had not returned when its grace was over"),
    Breach(fixture: "ignores_expiration", tried: "expire-before", seen: "had not returned when its grace was over"),
    Breach(fixture: "ignores_expiration", tried: "expire-budget", seen: "had not returned when its grace was over"),
    Breach(fixture: "ignores_expiration", tried: "expire-reasons", seen: "had not returned when its grace was over"),
    Breach(fixture: "ignores_expiration", tried: "drain", seen: "had not returned when its grace was over"),
    Breach(fixture: "payload_crash", tried: "payload-not-json", seen: "killed by SIGSEGV"),
    Breach(fixture: "payload_crash", tried: "payload-empty", seen: "killed by SIGSEGV"),
    Breach(fixture: "payload_crash", tried: "payload-random", seen: "killed by SIGSEGV"),
    Breach(fixture: "payload_limit", tried: "payload-limit", seen: "killed by SIG"),
    Breach(fixture: "exits", tried: "payload-empty", seen: "ended its process with exit(3)"),
    Breach(fixture: "thread_exit", tried: "run", seen: "ended its thread instead of returning"),
    Breach(fixture: "context_on_stack", tried: "run", seen: "lies on the handler's stack"),
    Breach(fixture: "stale_handle", tried: "left-behind", seen: "progress() was called with the handle of a run that is over"),
    Breach(
      fixture: "thread_left", definitions: ["WORKS"], tried: "shutdown", seen: "after the shutdown a thread of the plugin still works"),
    Breach(fixture: "shutdown_hangs", tried: "shutdown", seen: "did not return in 5 s"),
    Breach(fixture: "process_state", definitions: ["WHAT=1"], tried: "run", seen: "left the working directory changed"),
    Breach(fixture: "process_state", definitions: ["WHAT=2"], tried: "run", seen: "left the umask changed: from 00"),
    Breach(fixture: "process_state", definitions: ["WHAT=5"], tried: "run", seen: "left SIGPIPE fatal"),
    Breach(fixture: "leak", definitions: ["WHAT=1"], tried: "many", seen: "bytes of memory"),
    Breach(fixture: "leak", definitions: ["WHAT=2"], tried: "many", seen: "descriptors more than before"),
    Breach(fixture: "descriptor", definitions: ["WHAT=1"], tried: "run", seen: "closed the descriptor of expiration_fd"),
    Breach(fixture: "descriptor", definitions: ["WHAT=2"], tried: "expire-in-run", seen: "read the descriptor of expiration_fd"),
    Breach(fixture: "lent_memory", definitions: ["WHAT=1"], tried: "run-again", seen: "killed by SIGSEGV"),
    Breach(fixture: "lent_memory", definitions: ["WHAT=2"], tried: "run-again", seen: "killed by SIGSEGV"),
    Breach(fixture: "lent_memory", definitions: ["WHAT=3"], tried: "run", seen: "killed by SIGSEGV"),
    Breach(fixture: "lent_memory", definitions: ["WHAT=4"], tried: "run", seen: "killed by SIGSEGV"),
    Breach(fixture: "lent_memory", definitions: ["WHAT=5"], tried: "run", seen: "killed by SIGSEGV"),
    Breach(fixture: "put_back", definitions: ["WHAT=1"], tried: "run", seen: "left the working directory changed"),
    Breach(fixture: "put_back", definitions: ["WHAT=2"], tried: "run", seen: "left the umask changed"),
    Breach(fixture: "stale_question", definitions: ["WHAT=1"], tried: "run-again", seen: "is_expired() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=2"], tried: "run-again", seen: "grace_ms() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=3"], tried: "run-again", seen: "stop_reason() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=4"], tried: "run-again", seen: "cancel_all() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=6"], tried: "run-again", seen: "work() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=7"], tried: "run-again", seen: "notify_event() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=8"], tried: "run-again", seen: "end() was called with the handle"),
    Breach(fixture: "stale_question", definitions: ["WHAT=5"], tried: "run-again", seen: "configuration() was called after the launch"),
    Breach(fixture: "keeps", definitions: ["WHAT=1"], tried: "many", seen: "outside malloc"),
    Breach(fixture: "keeps", definitions: ["WHAT=2"], tried: "many", seen: "each run keeps about"),
    Breach(fixture: "keeps", definitions: ["WHAT=3"], tried: "many", seen: "child processes more than before"),
    Breach(fixture: "keeps", definitions: ["WHAT=4"], tried: "many", seen: "bytes of memory"),
    Breach(fixture: "keeps", definitions: ["WHAT=5"], tried: "many", seen: "bytes of memory"),
    Breach(fixture: "process_parts", definitions: ["WHAT=1"], tried: "run", seen: "forked called exit(0) without exec"),
    Breach(fixture: "process_parts", definitions: ["WHAT=2"], tried: "run", seen: "left the standard descriptors changed"),
    Breach(fixture: "process_parts", definitions: ["WHAT=4"], tried: "left-behind", seen: "still works after the handler has returned"),
    Breach(fixture: "beside", tried: "launch", seen: "taskhost_plugin_launch returned -11"),
    Breach(fixture: "store", tried: "store-unavailable", seen: "killed by SIGABRT"),
    Breach(fixture: "store", tried: "store-flaky", seen: "killed by SIGABRT"),
    Breach(fixture: "checkpoint", tried: "checkpoint-foreign", seen: "killed by SIGABRT"),
    Breach(fixture: "clock", tried: "clock-back", seen: "had not returned when its grace was over"),
    Breach(fixture: "submits", tried: "submit-refused", seen: "killed by SIGABRT"),
    Breach(fixture: "wakes", tried: "wake-refused", seen: "killed by SIGABRT"),
    Breach(fixture: "transfers_end", definitions: ["WHAT=1"], tried: "transfer-ended", seen: "killed by SIGABRT"),
    Breach(fixture: "transfers_end", definitions: ["WHAT=2"], tried: "transfer-foreign", seen: "killed by SIGABRT"),
    Breach(fixture: "concurrent", tried: "concurrent", seen: "killed by SIGABRT"),
    Breach(fixture: "counts_on_checker", tried: "worker", seen: "a worker does not accept it"),
    Breach(fixture: "confined", tried: "worker", seen: "a worker does not accept it: taskhost_plugin_launch returned -11"),
    Breach(fixture: "launch_differs", tried: "launch-again", seen: "launch 2 registered org.example.fixture"),
    Breach(fixture: "registers_late", tried: "run", seen: "register_handler() was called after the launch was over"),
    Breach(fixture: "launch_hangs", tried: "launch-refused", seen: "did not return once its registration was refused"),
    Breach(fixture: "note", tried: "note", seen: "the note says kind=processing, the plugin registers refresh"),
    Breach(fixture: "late_answer", tried: "expire-in-grace", seen: "had not returned when its grace was over"),
  ]

  @Test("a plugin that breaks a rule fails the case that tries it", arguments: breaches)
  func breaks(_ breach: Breach) async throws {
    let result = try await Self.check(try await CheckFixture(breach.fixture, breach.definitions), breach.tried)
    #expect(result.status == 1, "\(result.errors)")
    let tried = try #require(try result.cases()[breach.tried])
    #expect(tried["verdict"] as? String == "failed")
    let findings = try #require(tried["findings"] as? [[String: Any]])
    let seen = findings.filter { $0["severity"] as? String == "breach" }.compactMap { $0["seen"] as? String }
    #expect(seen.contains { $0.contains(breach.seen) }, "\(seen)")
  }

  @Test("its twin that keeps the rule passes it", arguments: breaches)
  func keeps(_ breach: Breach) async throws {
    let result = try await Self.check(try await CheckFixture(breach.fixture, breach.definitions + ["WELL_BEHAVED"]), breach.tried)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
    #expect(try result.cases()[breach.tried]?["verdict"] as? String == "passed", "\(result.output)")
  }

  @Test("the credentials of a single thread are the process's too", .enabled(if: geteuid() == 0))
  func credentials() async throws {
    let result = try await Self.check(try await CheckFixture("process_parts", ["WHAT=3"]), "run")
    #expect(result.status == 1)
    #expect(result.output.contains("left the credentials of its thread changed"), "\(result.output)")
  }

  @Test("threads that wait for the next run are no threads that work on", arguments: ["left-behind", "many", "concurrent", "shutdown"])
  func pool(_ tried: String) async throws {
    let fixture = try await CheckFixture("pool")
    let result = try await Self.check(fixture, tried)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("what the host remembers of runs that expired is not taken for the plugin's", arguments: ["1", "2", "3"])
  func keepsNothing(_ seed: String) async throws {
    // So long a grace that all of them are remembered.
    let result = try await CheckFixture("keeps_nothing").check(["--case", "many", "--grace", "100s", "--seed", seed])
    #expect(result.status == 0, "\(result.output)")
  }

  @Test("settings that lack what the plugin needs may be refused, and must not crash it")
  func settings() async throws {
    for (definitions, status) in [([], Int32(1)), (["WELL_BEHAVED"], 0)] {
      let fixture = try await CheckFixture("settings", definitions)
      let settings = try fixture.write("{\"folder\": \"/srv\"}", to: "settings.json")
      let result = try await Self.check(fixture, "launch-settings", "--settings", settings)
      #expect(result.status == status, "\(result.output)")
    }
  }

  @Test("a typed handler is tried with payloads that fit its signature; without one it is not tried")
  func typed() async throws {
    for (definitions, status) in [([], Int32(1)), (["WELL_BEHAVED"], 0)] {
      let fixture = try await CheckFixture("typed", definitions)
      let long = "{\"text\": \"" + String(repeating: "x", count: 2000) + "\"}"
      let result = try await Self.check(fixture, "run", "--payload", long)
      #expect(result.status == status, "\(result.output)")
      #expect(try result.cases()["run"]?["verdict"] as? String == (status == 0 ? "passed" : "failed"))
      let unfit = try await Self.check(fixture, "run")
      #expect(unfit.status == 0)
      #expect((try unfit.cases()["run"]?["seen"] as? String)?.contains("does not fit the handler's signature") == true, "\(unfit.output)")
    }
    let fixture = try await CheckFixture("typed", ["WELL_BEHAVED"])
    let random = try await Self.check(fixture, "payload-random", "--payload", "{\"text\": \"x\"}")
    #expect((try random.cases()["payload-random"]?["seen"] as? String)?.contains("refused at submission") == true, "\(random.output)")
  }

  @Test(
    "what is not forbidden, or no proof, is a warning and does not fail",
    arguments: [("prints", "standard output"), ("arguments", "log() was called with a malformed argument")])
  func warnings(_ fixture: String, _ seen: String) async throws {
    let result = try await Self.check(try await CheckFixture(fixture), "run")
    #expect(result.status == 0)
    let findings = try #require(try result.cases()["run"]?["findings"] as? [[String: Any]])
    #expect(findings.contains { $0["severity"] as? String == "warning" && ($0["seen"] as? String)?.contains(seen) == true }, "\(findings)")
    #expect(try await Self.check(try await CheckFixture(fixture, ["WELL_BEHAVED"]), "run").output.contains("\"findings\":[]"))
  }

  @Test(
    "what the header forbids and does no harm in a worker is a remark and does not fail",
    arguments: [
      Breach(fixture: "process_state", definitions: ["WHAT=3"], tried: "run", seen: "left the locale changed"),
      Breach(
        fixture: "process_state", definitions: ["WHAT=4"], tried: "run",
        seen: "left signal dispositions changed: signal 10 from default to ignored"),
      Breach(
        fixture: "put_back", definitions: ["WHAT=3"], tried: "run",
        seen: "in the middle of its run, left signal dispositions changed: signal 17"),
      Breach(fixture: "thread_left", tried: "shutdown", seen: "after the shutdown the plugin has 1 thread left, asleep"),
    ])
  func remarks(_ remark: Breach) async throws {
    let result = try await Self.check(try await CheckFixture(remark.fixture, remark.definitions), remark.tried)
    #expect(result.status == 0, "\(result.output)")
    let findings = try #require(try result.cases()[remark.tried]?["findings"] as? [[String: Any]])
    let seen = findings.filter { $0["severity"] as? String == "remark" }.compactMap { $0["seen"] as? String }
    #expect(seen.contains { $0.contains(remark.seen) }, "\(findings)")
    let twin = try await Self.check(try await CheckFixture(remark.fixture, remark.definitions + ["WELL_BEHAVED"]), remark.tried)
    #expect(twin.output.contains("\"findings\":[]"), "\(twin.output)")
  }

  @Test("a crash and a hang show the stack with the handler in it", arguments: [("submits", "submit-refused"), ("clock", "clock-back")])
  func stacks(_ fixture: String, _ tried: String) async throws {
    let result = try await Self.check(try await CheckFixture(fixture), tried)
    let findings = try #require(try result.cases()[tried]?["findings"] as? [[String: Any]])
    #expect(findings.contains { ($0["detail"] as? String)?.contains("lib\(fixture).so") == true }, "\(findings)")
  }

  private static func check(_ fixture: CheckFixture, _ tried: String, _ more: String...) async throws -> Program.Result {
    try await fixture.check(["--case", tried, "--grace", "700ms", "--timeout", "60s", "--seed", "7", "--json"] + more)
  }
}
