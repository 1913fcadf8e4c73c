import Testing

@testable import WorkerProcesses

@Suite("The host's control group") struct CgroupPlaceTests {
  private static let unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

  @Test(
    "it is found where version 2 is mounted",
    arguments: [
      ("0::/system.slice/taskhost.service\n", unified, "/sys/fs/cgroup/system.slice/taskhost.service"),
      ("0::/\n", unified, "/sys/fs/cgroup"),
      // Version 1 beside it, as older systems have it.
      (
        "4:memory:/a\n1:name=systemd:/a\n0::/a/b\n",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
        "/sys/fs/cgroup/unified/a/b"
      ),
      // A part of the hierarchy, mounted elsewhere.
      ("0::/user.slice/x/y\n", "41 31 0:38 /user.slice/x /mnt/my\\040groups rw - cgroup2 none rw\n", "/mnt/my groups/y"),
      ("0::/user.slice/x\n", "41 31 0:38 /user.slice/x /mnt/groups rw - cgroup2 none rw\n", "/mnt/groups"),
    ])
  func found(_ cgroups: String, _ mounts: String, _ folder: String) {
    #expect(CgroupPlace.folder(cgroups: cgroups, mounts: mounts) == folder)
  }

  @Test(
    "it is not guessed",
    arguments: [
      ("4:memory:/a\n", unified),
      ("0::/../outside\n", unified),
      ("0::/a (deleted)\n", unified),
      ("0::/a\n", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
      ("0::/user.slice/other\n", "41 31 0:38 /user.slice/o /mnt/groups rw - cgroup2 none rw\n"),
      ("", ""), ("0::/a\n", "- cgroup2\n"),
    ])
  func notFound(_ cgroups: String, _ mounts: String) {
    #expect(CgroupPlace.folder(cgroups: cgroups, mounts: mounts) == nil)
  }
}
