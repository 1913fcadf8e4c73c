import TestSupport
import CTaskHost
import Glibc
import LauncherConformance
import TaskModel
import Testing

@testable import PluginRuntime

@Suite("Launch") struct LaunchTests {
  @Test("a launch that hangs is refused within its budget, and what it registers later is refused too") func hang() async throws {
    let path = try await CompiledFixtures.plugin("runtime_launch", ["FAULT_HANG", "IN_THE_TEST"])
    let failure = LaunchFailure(step: .timeout, observed: "taskhost_plugin_launch took longer than the launch budget of 200 ms")
    await #expect(throws: failure) { _ = try await Bench(.threads).launch(path: path, budget: .milliseconds(200)) }
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
}
