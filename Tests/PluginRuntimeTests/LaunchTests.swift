import CTaskHost
import Glibc
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Launch") struct LaunchTests {
  private func failure(
    _ definitions: [String], policy: OpenPolicy = OpenPolicy(), budget: Duration = .seconds(60)
  ) async throws -> LaunchFailure? {
    do {
      _ = try await Bench.launch("runtime_launch", definitions, policy: policy, budget: budget)
      return nil
    } catch let failure as LaunchFailure { return failure }
  }

  @Test("a good plugin launches with what it registered") func good() async throws {
    let plugin = try await Bench.launch("runtime_launch", [])
    #expect(plugin.handlers.map(\.registered.identifier.rawValue) == ["test.runtime.launch"])
    #expect(plugin.handlers.first?.registered.maxConcurrentRuns == 1)
  }

  @Test(
    "a launch that goes wrong is refused, with what was seen",
    arguments: [
      ("FAULT_ERROR", LaunchFailure.Step.status, "taskhost_plugin_launch returned -11"),
      ("FAULT_ERROR_LOGGED", .status, "taskhost_plugin_launch returned -1: settings.accounts is empty"),
      ("FAULT_ERROR_EXPLAINED", .status, "taskhost_plugin_launch returned -1: log level 99 is none of TASKHOST_TRACE … TASKHOST_ERROR"),
      ("FAULT_NOTHING", .registration, "it registered no handler"),
      ("FAULT_TWICE", .registeredTwice, "it registered twice: a second handler: a plugin registers one"),
      ("FAULT_NULL", .registration, "its registration was refused: registration is NULL"),
    ])
  func faults(_ definition: String, _ step: LaunchFailure.Step, _ observed: String) async throws {
    #expect(try await failure([definition]) == LaunchFailure(step: step, observed: observed))
  }

  @Test(
    "a registration with a flaw is refused, naming the flaw",
    arguments: [
      (".identifier=NULL", "identifier is NULL"), (".identifier=\"\"", "is empty"), (".identifier=\"..\"", "does not begin with"),
      (".identifier=\"a b\"", "has a character other"), (".identifier=\"a\\nb\"", "has a character other"),
      (".identifier=\"\\xff\"", "not valid UTF-8"), (".identifier=\"\(String(repeating: "a", count: 129))\"", "has 129 bytes"),
      (".identifier=\"\(String(repeating: "a", count: 2000))\"", "longer than 1024"), (".handler=NULL", "handler is NULL"),
      (".struct_size=0", "struct_size 0"), (".struct_size=79", "struct_size 79"), (".struct_size=4097", "struct_size 4097"),
      (".struct_size=4294967295u", "struct_size 4294967295"), (".kind=0", "kind 0"), (".kind=4", "kind 4"), (".kind=-1", "kind -1"),
      (".reserved=1", "reserved is 1"), (".max_concurrent_runs=1025", "1025"), (".signature=\"void()\"", "typed handlers"),
      (".display_name=\"\\xff\"", "display_name is not valid UTF-8"),
      (".version=\"\(String(repeating: "1", count: 65))\"", "version is longer than 64 bytes"),
    ])
  func registrations(_ change: String, _ flaw: String) async throws {
    let failure = try await failure(["FAULT_REGISTRATION=\(change)"])
    #expect(failure?.step == .registration)
    #expect(failure?.observed.contains(flaw) == true, "\(failure?.observed ?? "launched")")
  }

  @Test("a later header's registration is taken if its further fields are zero, refused otherwise") func laterHeader() async throws {
    #expect(try await failure(["FAULT_REGISTRATION=.struct_size=4096"]) == nil)
    #expect(try await failure(["FAULT_REGISTRATION=.struct_size=81", "TAIL=1"])?.observed.contains("install a newer taskhost") == true)
  }

  @Test("what another plugin has, or is not permitted, is refused") func policy() async throws {
    let taken = OpenPolicy(refusal: CallFailure(.exists, "other.so has it"))
    #expect(try await failure([], policy: taken)?.step == .identifierTaken)
    let forbidden = OpenPolicy(refusal: CallFailure(.notPermitted, "not in the list"))
    #expect(try await failure([], policy: forbidden)?.step == .notPermitted)
  }

  @Test("a refused first try does not count: a plugin may fall back on what this host offers") func fallback() async throws {
    #expect(try await failure(["FALLBACK"]) == nil)
  }

  @Test("a plugin that asks for its settings before it registers is launched again with them; its requests count once")
  func settingsFirst() async throws {
    let policy = OpenPolicy()
    let plugin = try await Bench.launch("runtime_launch", ["SETTINGS_FIRST"], policy: policy)
    #expect(policy.logged == ["none", "{\"who\":\"test.runtime.launch\"}"])
    #expect(plugin.requests.count == 1)
    #expect(plugin.handlers.count == 1)
  }

  @Test("a launch that hangs is refused within its budget, and what it registers later is refused too") func hang() async throws {
    let policy = OpenPolicy()
    let failure = try await failure(["FAULT_HANG"], policy: policy, budget: .milliseconds(200))
    #expect(failure == LaunchFailure(step: .timeout, observed: "taskhost_plugin_launch took longer than the launch budget of 200 ms"))
    let path = try await FixturePlugins.path("runtime_launch", ["FAULT_HANG"])
    let status = try await onThread {
      guard let image = dlopen(path, RTLD_NOW | RTLD_NOLOAD), let hang = dlsym(image, "runtime_hang"),
        let over = dlsym(image, "runtime_hang_over"), let status = dlsym(image, "runtime_late_status")
      else { throw TestFailure("the plugin is not loaded") }
      sem_post(hang.assumingMemoryBound(to: sem_t.self))
      while sem_wait(over.assumingMemoryBound(to: sem_t.self)) != 0 {}
      return status.load(as: Int64.self)
    }
    #expect(status == TASKHOST_ELAUNCHED)
  }

  @Test("the launch handle is worth nothing after launch, from any thread") func keptHandle() async throws {
    let bench = try Bench()
    let probe = try Probe()
    let contract = try await bench.load("runtime_launch")
    _ = try await bench.recorder.end(of: bench.start(contract, probe))
    for index in [0, 1, 2, 5] { #expect(probe[index] == TASKHOST_ELAUNCHED) }
    #expect(probe[3] == 1)
    #expect(probe[4] == 1)
  }

  @Test("a file that is no plugin is refused with the loader's words") func load() async throws {
    #expect(throws: LaunchFailure.self) {
      try PluginImage.launch(path: "/nonexistent/x.so", identifier: nil, handlerLimit: 1, budget: .seconds(60), policy: OpenPolicy())
    }
  }
}
