import Glibc
import HostThreads

/// The control groups of this host's workers. They limit memory, processes and processor time, of all processes that a worker starts too.
///
/// They exist only if the host's group was delegated to it (`Delegate=yes` in a unit of systemd). The host moves into a subgroup `host`,
/// because the kernel divides only groups without processes of their own, and puts each worker into a subgroup beside that. A failure
/// costs a limit, never a worker.
public final class WorkerCgroups: Sendable {
  /// What groups limit, if the machine supports it.
  enum Controller: String, CaseIterable { case memory, pids, cpu }

  /// The result of ``prepare()``.
  public struct Preparation: Sendable {
    /// Nil if no group can be divided.
    public let groups: WorkerCgroups?
    /// What the groups cannot limit, a sentence each.
    public let missing: [String]
  }

  /// Added to `limits.memory` for memory that it does not count: pages of files, page tables, sockets.
  static let memoryMargin = 32 << 20
  /// Added to `limits.processes` for the worker's own threads.
  static let ownThreads = 8
  private static let prefix = "worker-"

  private let folder: String
  private let host: pid_t
  private let controllers: Set<Controller>
  /// Groups that still had processes when they were to be removed.
  private let leftovers = Guarded<[WorkerCgroup]>([])

  private init(_ folder: String, host: pid_t, controllers: Set<Controller>) {
    self.folder = folder
    self.host = host
    self.controllers = controllers
  }

  /// Finds this process's own group and divides it. Call it once, before the first worker starts.
  public static func prepare() -> Preparation {
    switch CgroupPlace.dividable() {
    case .success(let folder): prepare(at: folder, process: getpid())
    case .failure(let obstacle): none(obstacle.sentence)
    }
  }

  /// What ``prepare()`` would find missing, if this process were the host, a sentence each. Changes nothing.
  ///
  /// - Parameter limitsProcessors: Whether a plugin has a ``ProcessorLimit``: nothing else needs the cpu controller.
  public static func missing(limitsProcessors: Bool) -> [String] {
    switch CgroupPlace.dividable() {
    case .failure(let obstacle): return [obstacle.sentence]
    case .success(let folder):
      let offered = (try? CgroupFile.read(folder + "/cgroup.controllers"))?.split(whereSeparator: \.isWhitespace).map(String.init) ?? []
      return Controller.allCases.filter { !offered.contains($0.rawValue) && (limitsProcessors || $0 != .cpu) }.map {
        "the control group \(folder) has no \($0.rawValue) controller"
      }
    }
  }

  /// Divides the group at `folder`, whose only process is `process`.
  static func prepare(at folder: String, process: pid_t) -> Preparation {
    let leaf = folder + "/host"
    do throws(CgroupFile.Failure) {
      if !CgroupFile.exists(leaf) { try CgroupFile.makeGroup(leaf) }
      try CgroupFile.write("\(process)", to: leaf + "/cgroup.procs")
      let offered = Set(try CgroupFile.read(folder + "/cgroup.controllers").split(whereSeparator: \.isWhitespace).map(String.init))
      var missing: [String] = []
      var controllers: Set<Controller> = []
      for controller in Controller.allCases {
        guard offered.contains(controller.rawValue) else {
          missing.append("the control group \(folder) has no \(controller.rawValue) controller")
          continue
        }
        do throws(CgroupFile.Failure) {
          try CgroupFile.write("+\(controller.rawValue)", to: folder + "/cgroup.subtree_control")
          controllers.insert(controller)
        } catch {
          let reason = error.code == EBUSY ? "\(folder): other processes than the host are in it" : error.sentence
          missing.append("the \(controller.rawValue) controller cannot be given to workers: \(reason)")
        }
      }
      let groups = WorkerCgroups(folder, host: process, controllers: controllers)
      groups.clearAway()
      return Preparation(groups: groups, missing: missing)
    } catch {
      return none("the control group \(folder) cannot be divided: \(error.sentence)")
    }
  }

  private static func none(_ reason: String) -> Preparation { Preparation(groups: nil, missing: [reason]) }

  /// Puts a process, which must have started nothing yet, into a group of its own.
  ///
  /// - Parameter number: Counts the processes of this host.
  /// - Returns: The group; nil: it has none. And what is not limited although it should be, a sentence each.
  func place(_ process: pid_t, number: UInt64, limits: GroupLimits) -> (group: WorkerCgroup?, missing: [String]) {
    sweep()
    let group = "\(folder)/\(Self.prefix)\(host)-\(number)"
    var missing: [String] = []
    var limited: Set<Controller> = []
    do throws(CgroupFile.Failure) {
      try CgroupFile.makeGroup(group)
      do throws(CgroupFile.Failure) {
        if controllers.contains(.memory) {
          try CgroupFile.write("\(limits.memory + Self.memoryMargin)", to: group + "/memory.max")
          limited.insert(.memory)
          // What goes to the swap space is no less used. Without accounting of swap there is no such file.
          if CgroupFile.exists(group + "/memory.swap.max") { try CgroupFile.write("0", to: group + "/memory.swap.max") }
          // A part of a worker is of no use.
          if CgroupFile.exists(group + "/memory.oom.group") { try CgroupFile.write("1", to: group + "/memory.oom.group") }
        }
        if controllers.contains(.pids) {
          try CgroupFile.write("\(limits.processes + Self.ownThreads)", to: group + "/pids.max")
          limited.insert(.pids)
        }
        if controllers.contains(.cpu) {
          for file in limits.processor.files { try CgroupFile.write(file.text, to: "\(group)/\(file.name)") }
        } else {
          missing += limits.processor.unenforced
        }
      } catch { missing.append("a limit of its control group was not set: \(error.sentence)") }
      try CgroupFile.write("\(process)", to: group + "/cgroup.procs")
    } catch {
      rmdir(group)
      return (nil, limits.processor.unenforced + ["it has no control group of its own: \(error.sentence)"])
    }
    return (WorkerCgroup(group, limitsMemory: limited.contains(.memory), limitsProcesses: limited.contains(.pids)), missing)
  }

  /// The worker has ended: whatever it started ends too, and its group goes, at once or when the last of them has.
  func discard(_ group: WorkerCgroup) {
    group.kill()
    if !group.remove() { leftovers.withLock { $0.append(group) } }
  }

  /// Ends what the workers of a host that was killed have left, and removes their groups.
  private func clearAway() {
    for name in CgroupFile.names(in: folder) where name.hasPrefix(Self.prefix) {
      guard let owner = name.dropFirst(Self.prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }), owner > 0 else { continue }
      // Another host may have the same group.
      guard owner == host || (Glibc.kill(owner, 0) != 0 && errno == ESRCH) else { continue }
      discard(WorkerCgroup(folder + "/" + name, limitsMemory: false, limitsProcesses: false))
    }
  }

  /// Removes what could not be removed before.
  func sweep() { leftovers.withLock { groups in groups.removeAll { $0.remove() } } }
}
