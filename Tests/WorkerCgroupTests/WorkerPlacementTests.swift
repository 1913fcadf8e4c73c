import TestSupport
import Glibc
import HostThreads
import TaskModel
import Testing
import WorkerLink

@testable import WorkerProcesses

@Suite(
  "A worker process and its control group", .enabled(if: GroupTree.obstacle == nil, "needs a cgroup2 hierarchy that this user may divide"))
struct WorkerPlacementTests {
  /// What a worker process tells, kept until somebody waits for it.
  private final class Listener: WorkerProcess.Owner, @unchecked Sendable {  // reason: `end` is touched with `monitor` held
    private let monitor = Monitor()
    private var end: WorkerEnd?

    func received(_ message: WorkerMessage, from process: WorkerProcess) {}
    func wrote(_ line: LogLine, in process: WorkerProcess) {}
    func broke(_ process: WorkerProcess, _ reason: String) {}
    func ended(_ process: WorkerProcess, _ end: WorkerEnd) {
      monitor.locked {
        self.end = end
        monitor.broadcast()
      }
    }

    func waitForEnd() -> WorkerEnd? {
      let deadline = SystemClock.now + .seconds(30)
      return monitor.locked {
        while end == nil, monitor.wait(until: deadline) {}
        return end
      }
    }
  }

  /// A program in place of a worker: it waits on its link for ever.
  private func program() throws -> String {
    var path = Array("/tmp/taskhost-cgroup-test-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw TestFailure("no file: \(errno)") }
    let text = Array("#!/bin/sh\nexec cat <&3\n".utf8)
    _ = write(descriptor, text, text.count)
    fchmod(descriptor, 0o700)
    close(descriptor)
    return path.withUnsafeBufferPointer { buffer in buffer.baseAddress.map { String(cString: $0) } ?? "" }
  }

  @Test("a process is in its group as soon as it is there; when it is killed, the group goes; what groups count is not missing")
  func life() throws {
    let tree = try GroupTree()
    let host = try Idler()
    try CgroupFile.write("\(host.process)", to: tree.path + "/cgroup.procs")
    let groups = try #require(WorkerCgroups.prepare(at: tree.path, process: host.process).groups)
    let loop = try WorkerEventLoop()
    defer { loop.end() }
    let executable = try program()
    defer { unlink(executable) }
    let spec = WorkerSpec(
      executable: executable, name: "test", confinement: Confinement(plugin: "/dev/null"), identifier: nil, launchBudget: .seconds(5),
      environment: ["PATH=/usr/bin:/bin"])

    let listener = Listener()
    let process = try WorkerProcess(spec, number: 3, loop: loop, cgroups: groups, owner: listener)
    #expect(tree.processes(in: "worker-\(host.process)-3") == [process.processID])
    let sentences = ["limits.processes: nobody counts", "something else"]
    #expect(process.unenforced(sentences) == (tree.controllers.contains("pids") ? ["something else"] : sentences))
    process.attach()
    process.kill()
    let end = try #require(listener.waitForEnd())
    #expect(end.status == -SIGKILL && !end.isOutOfMemory)
    groups.sweep()
    #expect(tree.groups == ["host"])
  }

  @Test("without groups a process is started as ever")
  func none() throws {
    let loop = try WorkerEventLoop()
    defer { loop.end() }
    let executable = try program()
    defer { unlink(executable) }
    let spec = WorkerSpec(
      executable: executable, name: "test", confinement: Confinement(plugin: "/dev/null"), processor: ProcessorLimit(share: 20),
      identifier: nil, launchBudget: .seconds(5), environment: ["PATH=/usr/bin:/bin"])
    let listener = Listener()
    let process = try WorkerProcess(spec, number: 3, loop: loop, cgroups: nil, owner: listener)
    #expect(
      process.unenforced(["a"]) == ["a", "limits.cpu.share: only a delegated cgroup with the cpu controller can give it the share 20"])
    process.attach()
    process.kill()
    #expect(listener.waitForEnd()?.observed == "was killed by SIGKILL")
  }
}
