import CTaskHost
import TaskHostSDK
import TaskHostTesting
import Testing

/// The plugins with which the real host's own tests check its answers to odd calls, here in the test host: both answer alike.
@Suite("Agreement with the host", .timeLimit(.minutes(10)))
struct AgreementTests {
  @Test("NULL, wrong sizes and numbers out of range are answered as by the host")
  func null() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Plugins/runtime_null"))
    let run = try await host.run()
    #expect(run.result == .success, "\(run)")
  }

  @Test("handles that name no run are answered as by the host")
  func stale() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Plugins/runtime_stale"))
    let first = try await host.run()
    #expect(first.result == .noop, "\(first)")
    let second = try await host.run()
    #expect(second.result == .success, "\(second)")
  }

  @Test(
    "launches that go wrong are refused as by the host",
    arguments: [
      ("FAULT_ERROR", TASKHOST_EUNAVAILABLE, "taskhost_plugin_launch returned -11"),
      ("FAULT_ERROR_LOGGED", TASKHOST_EINVAL, "taskhost_plugin_launch returned -1: settings.accounts is empty"),
      ("FAULT_ERROR_EXPLAINED", TASKHOST_EINVAL, "taskhost_plugin_launch returned -1: log level 99 is none of"),
      ("FAULT_NOTHING", TASKHOST_EINVAL, "it registered no handler"),
      ("FAULT_TWICE", TASKHOST_EEXISTS, "it registered twice: a second handler: a plugin registers one"),
      ("FAULT_NULL", TASKHOST_EINVAL, "its registration was refused: registration is NULL"),
      ("FAULT_REGISTRATION=.struct_size=0", TASKHOST_EINVAL, "its registration was refused: registration has struct_size 0"),
      ("FAULT_REGISTRATION=.struct_size=79", TASKHOST_EINVAL, "its registration was refused: registration has struct_size 79"),
      ("FAULT_REGISTRATION=.struct_size=4097", TASKHOST_EINVAL, "its registration was refused: registration has struct_size 4097"),
      ("FAULT_REGISTRATION=.identifier=\"\"", TASKHOST_EINVAL, "its registration was refused: identifier \"\" is empty"),
      ("FAULT_REGISTRATION=.identifier=\"-a\"", TASKHOST_EINVAL, "its registration was refused: identifier \"-a\" does not begin"),
      ("FAULT_REGISTRATION=.identifier=0", TASKHOST_EINVAL, "its registration was refused: identifier is NULL"),
      ("FAULT_REGISTRATION=.kind=4", TASKHOST_EINVAL, "its registration was refused: kind 4 is none of"),
      ("FAULT_REGISTRATION=.reserved=1", TASKHOST_EINVAL, "its registration was refused: reserved is 1"),
      ("FAULT_REGISTRATION=.max_concurrent_runs=1025", TASKHOST_EINVAL, "its registration was refused: max_concurrent_runs is 1025"),
      ("FAULT_REGISTRATION=.handler=0", TASKHOST_EINVAL, "its registration was refused: handler is NULL"),
    ])
  func launches(definition: String, status: Int, reason: String) throws {
    let path = try CompiledPlugin.path("Plugins/runtime_launch", [definition])
    let error = #expect(throws: TestHostError.self) { try TestHost(plugin: path) }
    guard case .launchRefused(let refusal, let sentence) = error else { throw error ?? TestHostError.notPossible("it launched") }
    #expect(Int(refusal) == status)
    #expect(sentence.hasPrefix(reason), "\(sentence)")
  }

  @Test("a later header's registration is taken where its further fields are zero, and refused otherwise")
  func laterHeader() throws {
    _ = try TestHost(plugin: CompiledPlugin.path("Plugins/runtime_launch", ["FAULT_REGISTRATION=.struct_size=4096"]))
    let path = try CompiledPlugin.path("Plugins/runtime_launch", ["FAULT_REGISTRATION=.struct_size=88", "TAIL=1"])
    let error = #expect(throws: TestHostError.self) { try TestHost(plugin: path) }
    #expect(error?.description.contains("registration sets fields that this host does not know") == true)
  }

  @Test("a plugin that asks for its settings first is launched again with them")
  func settingsFirst() throws {
    let host = try TestHost(
      plugin: CompiledPlugin.path("Plugins/runtime_launch", ["SETTINGS_FIRST"]), settings: ["folder": "/srv"])
    #expect(host.launchLog.map(\.message) == [#"none"#, #"{"folder":"/srv"}"#])
    // What the first call submitted is dropped.
    #expect(host.requests.count == 1)
  }
}
