import Glibc

/// Where the control group of a process is, and whether it is this host's to divide.
enum CgroupPlace {
  /// Why no group can be divided, as a sentence.
  struct Obstacle: Error {
    let sentence: String
  }

  /// The folder of the group that this process, as the host, may divide.
  static func dividable() -> Result<String, Obstacle> {
    guard let cgroups = try? CgroupFile.read("/proc/self/cgroup"), let mounts = try? CgroupFile.read("/proc/self/mountinfo"),
      let own = folder(cgroups: cgroups, mounts: mounts)
    else { return .failure(Obstacle(sentence: "there is no hierarchy of control groups, version 2, that shows this process")) }
    let user = geteuid()
    if isDelegated(own, to: user) { return .success(own) }
    // Where systemd put the host into a subgroup already (DelegateSubgroup=), the group above is the one to divide.
    if let above = own.lastIndex(of: "/").map({ String(own[..<$0]) }), own.hasSuffix("/host"), isDelegated(above, to: user) {
      return .success(above)
    }
    return .failure(Obstacle(sentence: "the control group \(own) is not delegated to this host (Delegate=yes in its unit)"))
  }

  /// The folder of a process's group in the unified hierarchy (version 2).
  ///
  /// - Parameters:
  ///   - cgroups: What `/proc/PID/cgroup` says.
  ///   - mounts: What `/proc/PID/mountinfo` says.
  /// - Returns: nil where version 2 is not mounted, or what is mounted does not show the group.
  static func folder(cgroups: String, mounts: String) -> String? {
    guard let line = cgroups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
    let group = String(line.dropFirst(3))
    // Outside of what a container is shown.
    guard !group.hasPrefix("/.."), !group.hasSuffix(" (deleted)") else { return nil }
    for mount in MountTable(mounts).mounts where mount.type == "cgroup2" {
      let (root, place) = (mount.root, mount.point)
      if root == "/" { return joined(place, group) }
      if group == root { return place }
      if group.hasPrefix(root + "/") { return joined(place, String(group.dropFirst(root.count))) }
    }
    return nil
  }

  /// Whether whoever manages the groups of this machine has handed this one over: systemd says so with an attribute
  /// (`Delegate=yes`), others make it the property of the user.
  static func isDelegated(_ folder: String, to user: uid_t) -> Bool {
    if ["user.delegate", "trusted.delegate"].contains(where: { CgroupFile.attribute($0, of: folder) == "1" }) { return true }
    var status = stat()
    guard user != 0, stat(folder, &status) == 0, status.st_uid == user else { return false }
    return access(folder, W_OK) == 0 && access(folder + "/cgroup.procs", W_OK) == 0 && access(folder + "/cgroup.subtree_control", W_OK) == 0
  }

  private static func joined(_ place: String, _ path: String) -> String {
    path == "/" ? place : (place == "/" ? "" : place) + path
  }
}
