import Foundation
import CTaskHost
import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: launch") struct LaunchConformance {
  private func failure(
    _ isolation: Isolation, _ definitions: [String], policy: OpenPolicy = OpenPolicy(), budget: Duration = .seconds(60)
  ) async throws -> LaunchFailure? {
    do {
      _ = try await Bench(isolation).launch("runtime_launch", definitions, policy: policy, budget: budget)
      return nil
    } catch let failure as LaunchFailure { return failure }
  }

  @Test("a good plugin launches with what it registered", arguments: Isolation.allCases) func good(_ isolation: Isolation) async throws {
    let plugin = try await Bench(isolation).launch("runtime_launch", [])
    #expect(plugin.registrations.map(\.identifier.rawValue) == ["test.runtime.launch"])
    #expect(plugin.registrations.first?.maxConcurrentRuns == 1)
  }

  @Test(
    "a launch that goes wrong is refused, with what was seen", arguments: Isolation.allCases,
    [
      ("FAULT_ERROR", LaunchFailure.Step.status, "taskhost_plugin_launch returned -11"),
      ("FAULT_ERROR_LOGGED", .status, "taskhost_plugin_launch returned -1: settings.accounts is empty"),
      ("FAULT_ERROR_EXPLAINED", .status, "taskhost_plugin_launch returned -1: log level 99 is none of TASKHOST_TRACE … TASKHOST_ERROR"),
      ("FAULT_NOTHING", .registration, "it registered no handler"),
      ("FAULT_TWICE", .registeredTwice, "it registered twice: a second handler: a plugin registers one"),
      ("FAULT_NULL", .registration, "its registration was refused: registration is NULL"),
    ])
  func faults(_ isolation: Isolation, _ fault: (definition: String, step: LaunchFailure.Step, observed: String)) async throws {
    #expect(try await failure(isolation, [fault.definition]) == LaunchFailure(step: fault.step, observed: fault.observed))
  }

  @Test(
    "a registration with a flaw is refused, naming the flaw", arguments: Isolation.allCases,
    [
      (".identifier=NULL", "identifier is NULL"), (".identifier=\"\"", "is empty"), (".identifier=\"..\"", "does not begin with"),
      (".identifier=\"a b\"", "has a character other"), (".identifier=\"a\\nb\"", "has a character other"),
      (".identifier=\"\\xff\"", "not valid UTF-8"), (".identifier=\"\(String(repeating: "a", count: 129))\"", "has 129 bytes"),
      (".identifier=\"\(String(repeating: "a", count: 2000))\"", "longer than 1024"), (".handler=NULL", "handler is NULL"),
      (".struct_size=0", "struct_size 0"), (".struct_size=79", "struct_size 79"), (".struct_size=4097", "struct_size 4097"),
      (".struct_size=4294967295u", "struct_size 4294967295"), (".kind=0", "kind 0"), (".kind=4", "kind 4"), (".kind=-1", "kind -1"),
      (".reserved=1", "reserved is 1"), (".max_concurrent_runs=1025", "1025"), (".signature=\"void()\"", "either a handler or these two"),
      (".display_name=\"\\xff\"", "display_name is not valid UTF-8"),
      (".version=\"\(String(repeating: "1", count: 65))\"", "version is longer than 64 bytes"),
    ])
  func registrations(_ isolation: Isolation, _ case: (change: String, flaw: String)) async throws {
    let failure = try await failure(isolation, ["FAULT_REGISTRATION=\(`case`.change)"])
    #expect(failure?.step == .registration)
    #expect(failure?.observed.contains(`case`.flaw) == true, "\(failure?.observed ?? "launched")")
  }

  @Test("a later header's registration is taken if its further fields are zero, refused otherwise", arguments: Isolation.allCases)
  func laterHeader(_ isolation: Isolation) async throws {
    #expect(try await failure(isolation, ["FAULT_REGISTRATION=.struct_size=4096"]) == nil)
    let failure = try await failure(isolation, ["FAULT_REGISTRATION=.struct_size=81", "TAIL=1"])
    #expect(failure?.observed.contains("install a newer taskhost") == true)
  }

  @Test("what another plugin has, or is not permitted, is refused", arguments: Isolation.allCases) func policy(_ isolation: Isolation)
    async throws
  {
    let taken = OpenPolicy(refusal: CallFailure(.exists, "other.so has it"))
    #expect(try await failure(isolation, [], policy: taken)?.step == .identifierTaken)
    let forbidden = OpenPolicy(refusal: CallFailure(.notPermitted, "not in the list"))
    #expect(try await failure(isolation, [], policy: forbidden)?.step == .notPermitted)
  }

  @Test("a refused first try does not count: a plugin may fall back on what this host offers", arguments: Isolation.allCases)
  func fallback(_ isolation: Isolation) async throws { #expect(try await failure(isolation, ["FALLBACK"]) == nil) }

  @Test(
    "a plugin that asks for its settings before it registers is launched again with them; its requests count once",
    arguments: Isolation.allCases)
  func settingsFirst(_ isolation: Isolation) async throws {
    let policy = OpenPolicy()
    let plugin = try await Bench(isolation).launch("runtime_launch", ["SETTINGS_FIRST"], policy: policy)
    #expect(policy.logged == ["none", "{\"who\":\"test.runtime.launch\"}"])
    #expect(plugin.changes.count == 1)
    #expect(plugin.registrations.count == 1)
  }

  @Test("a launch that hangs is refused within its budget", arguments: Isolation.allCases) func hang(_ isolation: Isolation) async throws {
    let failure = try await failure(isolation, ["FAULT_HANG"], budget: .milliseconds(500))
    #expect(failure == LaunchFailure(step: .timeout, observed: "taskhost_plugin_launch took longer than the launch budget of 500 ms"))
  }

  @Test("the launch handle is worth nothing after launch, from any thread", arguments: Isolation.allCases)
  func keptHandle(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let probe = try Probe()
    let contract = try await bench.load("runtime_launch")
    #expect(try await bench.run(contract, payload: probe.payload).ending == .returned(.success, stop: nil))
    for index in [0, 1, 2, 5] { #expect(probe[index] == TASKHOST_ELAUNCHED) }
    #expect(probe[3] == 1)
    #expect(probe[4] == 1)
  }

  @Test("a file that is no plugin is refused with the loader's words", arguments: Isolation.allCases) func load(_ isolation: Isolation)
    async throws
  {
    let path = TestFolder.newFile()
    try "this is no library".write(toFile: path, atomically: false, encoding: .utf8)
    do {
      _ = try await Bench(isolation).launch(path: path)
      Issue.record("it launched")
    } catch let failure as LaunchFailure {
      #expect(failure.step == .load)
      #expect(failure.observed.contains("file too short") || failure.observed.contains("invalid ELF header"), "\(failure.observed)")
    }
  }
}
