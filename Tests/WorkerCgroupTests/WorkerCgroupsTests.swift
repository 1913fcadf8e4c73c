import Glibc
import Testing

@testable import WorkerProcesses

@Suite("Control groups of workers", .enabled(if: GroupTree.obstacle == nil, "needs a cgroup2 hierarchy that this user may divide"))
struct WorkerCgroupsTests {
  private func divided(_ tree: GroupTree, _ host: Idler) throws -> WorkerCgroups {
    try CgroupFile.write("\(host.process)", to: tree.path + "/cgroup.procs")
    return try #require(WorkerCgroups.prepare(at: tree.path, process: host.process).groups)
  }

  @Test("the host moves aside, a worker into a group of its own, which goes when it has ended")
  func life() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    #expect(tree.processes(in: "host") == [host.process] && tree.processes(in: "") == [])

    let worker = try Idler()
    let (group, missing) = groups.place(worker.process, number: 7, limits: GroupLimits(memory: 64 << 20, processes: 4))
    let name = "worker-\(host.process)-7"
    #expect(missing == [] && tree.processes(in: name) == [worker.process])
    let placed = try #require(group)
    #expect(!placed.remove(), "somebody is in it")

    kill(worker.process, SIGKILL)
    _ = try worker.end()
    groups.discard(placed)
    #expect(tree.groups == ["host"])
  }

  @Test("what a worker started ends with it, even in a process group of its own", .enabled(if: CgroupKill.isThere, "needs Linux 5.14"))
  func grandchildren() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    let group = try #require(groups.place(worker.process, number: 1, limits: GroupLimits(memory: 64 << 20, processes: 4)).group)
    let stray = try Idler()
    try CgroupFile.write("\(stray.process)", to: "\(tree.path)/worker-\(host.process)-1/cgroup.procs")
    kill(worker.process, SIGKILL)
    _ = try worker.end()
    groups.discard(group)
    #expect(try stray.end() == SIGKILL)
    // If it was still in the group a moment ago, the group goes with the next occasion.
    groups.sweep()
    #expect(tree.groups == ["host"])
  }

  @Test(
    "what the workers of a killed host left is ended and removed, those of another host stay",
    .enabled(if: CgroupKill.isThere, "needs Linux 5.14"))
  func leftovers() throws {
    let tree = try GroupTree()
    let killed = try Idler()
    kill(killed.process, SIGKILL)
    _ = try killed.end()
    let other = try Idler()
    let (left, kept) = ("worker-\(killed.process)-1", "worker-\(other.process)-1")
    for name in [left, kept, "worker-x", "other"] { #expect(mkdir("\(tree.path)/\(name)", 0o755) == 0) }
    let (stray, worker) = (try Idler(), try Idler())
    try CgroupFile.write("\(stray.process)", to: "\(tree.path)/\(left)/cgroup.procs")
    try CgroupFile.write("\(worker.process)", to: "\(tree.path)/\(kept)/cgroup.procs")
    let groups = try divided(tree, try Idler())
    #expect(try stray.end() == SIGKILL)
    groups.sweep()
    #expect(tree.groups == ["host", "other", kept, "worker-x"].sorted())
    #expect(tree.processes(in: kept) == [worker.process])
    kill(worker.process, SIGKILL)
    _ = try worker.end()
  }

  @Test("a worker that has ended before it was placed costs a sentence, and no group stays")
  func goneAlready() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    kill(worker.process, SIGKILL)
    _ = try worker.end()
    let (group, missing) = groups.place(worker.process, number: 1, limits: GroupLimits(memory: 64 << 20, processes: 4))
    #expect(group == nil && missing.count == 1 && missing.first?.contains("it has no control group of its own") == true)
    #expect(tree.groups == ["host"])
  }

  @Test("controllers that are not there are named")
  func missingControllers() throws {
    let tree = try GroupTree()
    let host = try Idler()
    try CgroupFile.write("\(host.process)", to: tree.path + "/cgroup.procs")
    let missing = WorkerCgroups.prepare(at: tree.path, process: host.process).missing
    for controller in ["memory", "pids"] where !tree.controllers.contains(controller) {
      #expect(missing.contains { $0.contains("has no \(controller) controller") })
    }
  }

  @Test("a group that cannot be divided is a sentence")
  func refused() {
    let preparation = WorkerCgroups.prepare(at: "/proc/self", process: getpid())
    #expect(preparation.groups == nil && preparation.missing.first?.hasPrefix("the control group /proc/self cannot be divided: ") == true)
  }

  @Test("delegation is an attribute of the folder, or the property of a user who is not root")
  func delegation() throws {
    let tree = try GroupTree()
    if geteuid() == 0 {
      #expect(!CgroupPlace.isDelegated(tree.path, to: 0))
    } else {
      #expect(CgroupPlace.isDelegated(tree.path, to: geteuid()))
    }
    #expect(!CgroupPlace.isDelegated("/proc/self/cgroup", to: 12_345))
  }

  @Test(
    "processes beyond the limit are refused, the worker's own threads not counted",
    .enabled(if: (try? GroupTree())?.controllers.contains("pids") ?? false, "needs the pids controller in the cgroup2 hierarchy"))
  func processLimit() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    let group = try #require(groups.place(worker.process, number: 1, limits: GroupLimits(memory: 64 << 20, processes: 4)).group)
    #expect(group.limitsProcesses)
    #expect(try CgroupFile.read("\(tree.path)/worker-\(host.process)-1/pids.max") == "\(4 + WorkerCgroups.ownThreads)\n")
  }

  @Test(
    "memory is limited with a margin, and swapping does not get around that",
    .enabled(if: (try? GroupTree())?.controllers.contains("memory") ?? false, "needs the memory controller in the cgroup2 hierarchy"))
  func memoryLimit() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    let group = try #require(groups.place(worker.process, number: 1, limits: GroupLimits(memory: 64 << 20, processes: 4)).group)
    #expect(group.limitsMemory && group.killedForMemory == 0)
    #expect(try CgroupFile.read("\(tree.path)/worker-\(host.process)-1/memory.max") == "\((64 << 20) + WorkerCgroups.memoryMargin)\n")
  }

  @Test(
    "a share and a quota of the processors are written as the kernel has them",
    .enabled(if: (try? GroupTree())?.controllers.contains("cpu") ?? false, "needs the cpu controller in the cgroup2 hierarchy"))
  func processorLimit() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    let limits = GroupLimits(memory: 64 << 20, processes: 4, processor: ProcessorLimit(share: 20, quota: 150))
    #expect(groups.place(worker.process, number: 1, limits: limits).missing == [])
    let group = "\(tree.path)/worker-\(host.process)-1"
    #expect(try CgroupFile.read(group + "/cpu.weight") == "20\n")
    #expect(try CgroupFile.read(group + "/cpu.max") == "150000 100000\n")
  }

  @Test(
    "without the cpu controller, a worker keeps its group, and what is not enforced is said",
    .enabled(if: !((try? GroupTree())?.controllers.contains("cpu") ?? true), "needs a cgroup2 hierarchy without the cpu controller"))
  func noProcessorLimit() throws {
    let tree = try GroupTree()
    let host = try Idler()
    let groups = try divided(tree, host)
    let worker = try Idler()
    let (group, missing) = groups.place(
      worker.process, number: 1, limits: GroupLimits(memory: 64 << 20, processes: 4, processor: ProcessorLimit(quota: 50)))
    #expect(group != nil)
    #expect(missing == ["limits.cpu.quota: only a delegated cgroup with the cpu controller can hold it to 50% of a processor"])
  }
}

/// Whether groups can be killed as a whole.
enum CgroupKill {
  static let isThere: Bool = (try? GroupTree()).map { CgroupFile.exists($0.path + "/cgroup.kill") } ?? false
}
