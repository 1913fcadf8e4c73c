import TestSupport
import Glibc
import LauncherConformance
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Shutdown") struct ShutdownTests {
  private func calls(_ definitions: [String]) async throws -> Int64 {
    let path = try await CompiledFixtures.plugin("runtime_shutdown", definitions)
    guard let image = dlopen(path, RTLD_NOW | RTLD_NOLOAD), let count = dlsym(image, "runtime_shutdowns") else {
      throw TestFailure("the plugin is not loaded")
    }
    return count.load(as: Int64.self)
  }

  @Test("a plugin whose run was abandoned is not called: a run of it is live") func abandoned() async throws {
    let bench = try Bench(.threads)
    let probe = try Probe()
    let contract = try await bench.load("runtime_shutdown", ["CASE_ABANDONED"])
    let run = bench.start(contract, probe)
    try await probe.reached()
    bench.launcher.force(run, reason: .draining)
    _ = try await bench.recorder.end(of: run)
    #expect(try await bench.shutdown() == 1)
    #expect(try await calls(["CASE_ABANDONED"]) == 0)
    probe.release()
    try await bench.recorder.resumption(of: contract.identifier)
  }

  @Test("a hook that hangs is counted when its time is up") func hangs() async throws {
    let launched = try await Bench(.threads).launch("runtime_shutdown", ["HANGS"])
    let hooks = [launched.plugin?.shutdown].compactMap { $0 }
    #expect(hooks.count == 1)
    #expect(try await onThread { PluginImage.shutDown(hooks, limit: .milliseconds(100)) } == 1)
  }
}
