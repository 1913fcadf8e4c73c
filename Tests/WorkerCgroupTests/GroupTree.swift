import Glibc

@testable import WorkerProcesses

/// A group of its own in this machine's real hierarchy, as if it had been delegated; removed with all below it at the end.
final class GroupTree {
  /// Why the machine has none for tests; nil: it has.
  static let obstacle: String? = {
    do throws(Obstacle) {
      _ = try GroupTree()
      return nil
    } catch { return error.reason }
  }()

  struct Obstacle: Error { let reason: String }

  let path: String

  init() throws(Obstacle) {
    guard let cgroups = try? CgroupFile.read("/proc/self/cgroup"), let mounts = try? CgroupFile.read("/proc/self/mountinfo"),
      let own = CgroupPlace.folder(cgroups: cgroups, mounts: mounts)
    else { throw Obstacle(reason: "no cgroup2 hierarchy is mounted") }
    path = "\(own)/taskhost-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    guard mkdir(path, 0o755) == 0 else { throw Obstacle(reason: "\(path) cannot be made: \(String(cString: strerror(errno)))") }
  }

  /// What may be given to groups below.
  var controllers: Set<String> {
    Set(((try? CgroupFile.read(path + "/cgroup.controllers")) ?? "").split(whereSeparator: \.isWhitespace).map(String.init))
  }

  /// The folders below.
  var groups: [String] {
    CgroupFile.names(in: path).filter {
      var status = stat()
      return !$0.hasPrefix(".") && stat("\(path)/\($0)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }.sorted()
  }

  /// The processes in a group below; "": in this one.
  func processes(in name: String) -> [pid_t] {
    ((try? CgroupFile.read("\(path)/\(name)/cgroup.procs")) ?? "").split(separator: "\n").compactMap { pid_t($0) }
  }

  deinit {
    for name in groups { rmdir("\(path)/\(name)") }
    rmdir(path)
  }
}
