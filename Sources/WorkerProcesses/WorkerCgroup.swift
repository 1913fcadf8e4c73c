import Glibc

/// The control group of one worker process and of what it starts.
final class WorkerCgroup: Sendable {
  private let folder: String
  /// Whether its memory is limited; what is over the limit and cannot be given back is killed.
  let limitsMemory: Bool
  /// Whether its processes and threads are.
  let limitsProcesses: Bool

  init(_ folder: String, limitsMemory: Bool, limitsProcesses: Bool) {
    self.folder = folder
    self.limitsMemory = limitsMemory
    self.limitsProcesses = limitsProcesses
  }

  /// Kills every process in it, whatever process group that has put itself into. Nothing happens on kernels before 5.14.
  func kill() { try? CgroupFile.write("1", to: folder + "/cgroup.kill") }

  /// How many of its processes were killed because it had used up its memory.
  var killedForMemory: Int {
    guard limitsMemory, let events = try? CgroupFile.read(folder + "/memory.events") else { return 0 }
    let line = events.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
    return line.flatMap { Int($0.dropFirst("oom_kill ".count)) } ?? 0
  }

  /// Removes the group; false: somebody is in it still.
  func remove() -> Bool { rmdir(folder) == 0 || errno == ENOENT }
}
