import Foundation
import Glibc
import Testing

@Suite("Files", .enabled(if: Kernel.landlockABI > 0)) struct FileAccessTests {
  @Test("its own folder is its own, at every ABI", arguments: Kernel.abis)
  func dataDirectory(_ abi: Int) throws {
    let place = try Playground()
    let result = try Probe.run(
      ["--data", place("own"), "--landlock", "\(abi)"],
      [
        ("read", place("own/file")), ("read-stream", place("own/file")), ("list", place("own")), ("write", place("own/new")),
        ("mkdir", place("own/folder")), ("rename", "\(place("own/new")):\(place("own/newer"))"), ("ftruncate", place("own/newer")),
        ("open-write-truncate", place("own/newer")), ("link", "\(place("own/newer")):\(place("own/linked"))"),
        ("symlink", "newer:\(place("own/soft"))"), ("mkfifo", place("own/fifo")), ("tmpfile", place("own")),
        ("fchmod", place("own/newer")), ("futimens", place("own/newer")), ("unlink", place("own/newer")), ("rmdir", place("own/folder")),
      ])
    #expect(result.answers == Array(repeating: 0, count: 16))
    #expect(result.denials == [])
    #expect(result.ignored == [])
  }

  @Test("moving between folders of its own needs ABI 2", arguments: Kernel.abis)
  func refer(_ abi: Int) throws {
    let place = try Playground()
    let answer = try Probe.answer(
      ["--data", place("own"), "--landlock", "\(abi)"], "rename", "\(place("own/file")):\(place("own/sub/moved"))")
    #expect(answer == (abi < 2 ? EXDEV : 0))
  }

  @Test("what is nobody's business is denied, at every ABI", arguments: Kernel.abis)
  func elsewhere(_ abi: Int) throws {
    let place = try Playground()
    let result = try Probe.run(
      ["--data", place("own"), "--landlock", "\(abi)"],
      [
        ("read", place("other/file")), ("read-stream", place("other/file")), ("list", place("other")), ("write", place("other/file")),
        ("write", place("other/new")), ("mkdir", place("other/folder")), ("rmdir", place("other")), ("unlink", place("other/file")),
        ("symlink", "file:\(place("other/soft"))"), ("mkfifo", place("other/fifo")), ("tmpfile", place("other")),
        ("rename", "\(place("other/file")):\(place("other/moved"))"), ("open-write-truncate", place("other/file")),
        ("read", "/etc/fstab"), ("list", "/"), ("list", "/etc"), ("list", "/home"), ("list", "/tmp"), ("list", "/dev"), ("list", "/proc"),
        ("read", "/proc/1/cmdline"), ("read", "/proc/version"), ("write", "/dev/kmsg"), ("read", "/proc/self/root/etc/fstab"),
        ("list", "/proc/self/cwd"),
      ])
    #expect(result.answers == Array(repeating: EACCES, count: 25))
  }

  @Test("nothing of another's comes into its folder by a link or a move", arguments: Kernel.abis)
  func smuggling(_ abi: Int) throws {
    let place = try Playground()
    let soft = place("own/soft")
    let result = try Probe.run(
      ["--data", place("own"), "--landlock", "\(abi)"],
      [
        ("link", "\(place("other/file")):\(place("own/hard"))"), ("rename", "\(place("other/file")):\(place("own/moved"))"),
        ("rename", "\(place("own/file")):\(place("other/given"))"), ("symlink", "\(place("other/file")):\(soft)"), ("read", soft),
        ("read", place("own/../other/file")), ("mknod-char", place("own/null")), ("mknod-block", place("own/disk")),
      ])
    for (index, answer) in result.answers.enumerated() {
      switch index {
      case 3: #expect(answer == 0)
      case 0...2: #expect(answer == EXDEV || answer == EACCES)
      case 6, 7: #expect(answer == EPERM || answer == EACCES)
      default: #expect(answer == EACCES)
      }
    }
    #expect(result.answers.count == 8)
    #expect(try String(contentsOfFile: place("other/file"), encoding: .utf8) == "text")
  }

  @Test("what the loader, the C library and Swift need is readable, not writable", arguments: Kernel.abis)
  func runtime(_ abi: Int) throws {
    let readable = [
      "/etc/passwd", "/etc/nsswitch.conf", "/etc/ld.so.cache", "/proc/self/maps", "/proc/self/status", "/proc/meminfo", "/proc/cpuinfo",
      "/proc/self/task/self/../status", "/proc/self/exe", "/sys/devices/system/cpu/online", "/dev/null", "/dev/zero", "/dev/urandom",
    ].filter { FileManager.default.isReadableFile(atPath: $0) }
    let written = ["/dev/null", "/dev/zero"]
    let untouchable = ["/etc/passwd", "/dev/urandom", "/usr/lib/new", "/proc/self/comm"]
    var actions = readable.map { ("read", $0) }
    actions += written.map { ("write", $0) }
    actions += untouchable.map { ("write", $0) }
    actions += [("load", "libz.so.1"), ("load", "libm.so.6"), ("map-executable", "/proc/self/exe"), ("clock", ""), ("prctl-name", "probe")]
    let result = try Probe.run(["--landlock", "\(abi)"], actions)
    let denied = Array(repeating: EACCES, count: untouchable.count)
    #expect(result.answers == (readable + written).map { _ in 0 } + denied + [0, 0, 0, 0, 0])
  }

  @Test("a thread of its own is found below /proc too, where libdispatch looks for it; the way there leads nowhere else")
  func ownThreads() throws {
    #expect(try Probe.answer([], "read-of-thread", "stat") == 0)
    #expect(try Probe.answer([], "read-of-thread", "../1/stat") == EACCES)
    #expect(try Probe.answer([], "read-of-thread", "../version") == EACCES)
    #expect(try Probe.answer([], "read", "/proc/1/stat") == EACCES)
  }

  @Test("read gives reading of a folder or of a file, nothing else")
  func readEntitlement() throws {
    let place = try Playground()
    let folder = ["--read", place("other")]
    let file = ["--read", place("other/file")]
    #expect(try Probe.answer(folder, "read", place("other/file")) == 0)
    #expect(try Probe.answer(folder, "list", place("other")) == 0)
    #expect(try Probe.answer(folder, "write", place("other/file")) == EACCES)
    #expect(try Probe.answer(folder, "write", place("other/new")) == EACCES)
    #expect(try Probe.answer(folder, "unlink", place("other/file")) == EACCES)
    #expect(try Probe.answer(file, "read", place("other/file")) == 0)
    #expect(try Probe.answer(file, "list", place("other")) == EACCES)
    #expect(try Probe.answer(file, "read", place("own/file")) == EACCES)
  }

  @Test("write gives reading and writing of a folder or of a file")
  func writeEntitlement() throws {
    let place = try Playground()
    let folder = ["--write", place("other")]
    let file = ["--write", place("other/file")]
    #expect(try Probe.answer(folder, "read", place("other/file")) == 0)
    #expect(try Probe.answer(folder, "write", place("other/file")) == 0)
    #expect(try Probe.answer(folder, "write", place("other/new")) == 0)
    #expect(try Probe.answer(folder, "unlink", place("other/new")) == 0)
    #expect(try Probe.answer(file, "write", place("other/file")) == 0)
    #expect(try Probe.answer(file, "write", place("other/new")) == EACCES)
    #expect(try Probe.answer(file, "unlink", place("other/file")) == EACCES)
    #expect(try Probe.answer(folder, "write", place("own/file")) == EACCES)
  }

  @Test("an entitlement for a path that is not there is reported and changes nothing")
  func absentPath() throws {
    let place = try Playground()
    let result = try Probe.run(
      ["--read", place("absent"), "--write", place("other/file/below"), "--data", place("own")], [("read", place("own/file"))])
    #expect(result.answers == [0])
    #expect(result.ignored.count == 2)
    #expect(result.ignored.contains { $0.hasPrefix("entitlements.read: \(place("absent")): No such file") })
    #expect(result.ignored.contains { $0.hasPrefix("entitlements.write: \(place("other/file/below")): Not a directory") })
  }

  @Test("a library from a folder of libraries loads, from elsewhere it does not")
  func libraryDirectory() throws {
    let place = try Playground()
    let library = place("other/copy.so")
    try FileManager.default.copyItem(atPath: Probe.plugin, toPath: library)
    #expect(try Probe.answer(["--library", place("other")], "load", library) == 0)
    #expect(try Probe.answer([], "load", library) == ENOENT)
  }

  @Test("truncating by a path is confined, and refused where Landlock cannot confine it", arguments: Kernel.abis)
  func truncation(_ abi: Int) throws {
    let place = try Playground()
    let result = try Probe.run(
      ["--data", place("own"), "--read", place("other"), "--landlock", "\(abi)"],
      [
        ("truncate", place("other/file")), ("open-read-truncate", place("other/file")), ("open-neither-truncate", place("other/file")),
        ("open-write-truncate", place("other/file")), ("truncate", place("own/file")), ("ftruncate", place("own/file")),
      ])
    let denied = abi < 3 ? EPERM : EACCES
    #expect(result.answers == [denied, denied, denied, EACCES, abi < 3 ? EPERM : 0, 0])
    #expect(try String(contentsOfFile: place("other/file"), encoding: .utf8) == "text")
  }

  @Test("commands to a device need ABI 5 to be denied, and the entitlement to write to be allowed", arguments: Kernel.abis)
  func deviceControl(_ abi: Int) throws {
    #expect(try Probe.answer(["--landlock", "\(abi)"], "ioctl", "/dev/null") == (abi < 5 ? ENOTTY : EACCES))
    #expect(try Probe.answer(["--landlock", "\(abi)", "--write", "/dev/null"], "ioctl", "/dev/null") == ENOTTY)
  }

  @Test("modes, owners, times and attributes by path are refused")
  func metadata() throws {
    let place = try Playground()
    let file = place("own/file")
    let actions = [
      ("chown", file), ("setxattr", file), ("utimes", file), ("utimensat", file), ("chmod", file), ("call", "fchmodat2:-100:0:0:0"),
      ("fchmod", file), ("futimens", file),
    ]
    let own = try Probe.run(["--data", place("own")], actions)
    #expect(own.answers == [EPERM, EPERM, EPERM, EPERM, EPERM, EPERM, 0, 0])
    let writing = try Probe.run(["--data", place("own"), "--write", place("other")], actions)
    #expect(writing.answers == own.answers)
  }

  @Test("a folder to write in changes no mode, owner, time or attribute of what lies in it or elsewhere", arguments: Kernel.abis)
  func metadataElsewhere(_ abi: Int) throws {
    let place = try Playground()
    let options = ["--write", place("other"), "--landlock", "\(abi)"]
    for path in [place("own/file"), place("own"), place("other/file"), place("other"), place.path] {
      let before = Self.mode(of: path)
      #expect(try Probe.answer(options, "alter", "\(path):0604") == 0, "\(path)")
      #expect(Self.mode(of: path) == before)
    }
    // The twin: what it may open, it may give another mode.
    #expect(try Probe.answer(options, "fchmod", place("other/file")) == 0)
  }

  private static func mode(of path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode : 0
  }

  @Test("no file that is there is opened to the writing of others", arguments: ["0666", "0660", "0602", "0777"])
  func writableByOthers(_ mode: String) throws {
    let place = try Playground()
    for options in [["--read", place("other")], ["--write", place("other")]] {
      #expect(try Probe.answer(options, "widen", "\(place("other/file")):\(mode)") == 0)
    }
    // The twin: other modes pass.
    #expect(try Probe.answer(["--read", place("other")], "widen", "\(place("other/file")):0644") == EEXIST)
  }

  @Test("commands that change a file are refused on a descriptor for reading, others are not")
  func changingCommands() throws {
    let place = try Playground()
    let changing = [
      "0x40086602", "0x40046602", "0x40087602", "0x401c5820", "0x40806685", "0x800c6613", "0x50009401", "0x50009417", "0x5000940e",
      "0x50009418", "0x5000940f", "0x5000943f", "0x4008941a", "0x140086602",
    ]
    for options in [["--read", place("other")], ["--write", place("other")]] {
      let result = try Probe.run(options, changing.map { ("command", "\(place("other/file")):\($0)") })
      #expect(result.answers == changing.map { _ in EPERM })
    }
    // The twins: FIGETBSZ without a place for its answer, and FIONBIO likewise.
    let harmless = try Probe.run(["--read", place("other")], ["0x2", "0x5421"].map { ("command", "\(place("other/file")):\($0)") })
    #expect(harmless.answers == [EFAULT, EFAULT])
  }

  @Test("an entitled path that has become a link gives nothing")
  func replacedByLink() throws {
    let place = try Playground()
    let files = FileManager.default
    try files.createSymbolicLink(atPath: place("own/out"), withDestinationPath: place("other"))
    try files.createSymbolicLink(atPath: place("linked"), withDestinationPath: place("own"))
    let result = try Probe.run(
      ["--write", place("own"), "--write", place("own/out"), "--read", place("own/out"), "--read", place("linked/sub")],
      [("read", place("own/file")), ("read", place("other/file")), ("write", place("own/out/file")), ("list", place("other"))])
    #expect(result.answers == [0, EACCES, EACCES, EACCES])
    #expect(result.ignored.count == 3)
    #expect(result.ignored.allSatisfy { $0.contains("Too many levels of symbolic links") }, "\(result.ignored)")
  }

  @Test("no file is made that runs as its owner or group", arguments: ["04755", "02755", "06700"])
  func specialModes(_ mode: String) throws {
    let place = try Playground()
    for options in [["--data", place("own")], ["--data", place("own"), "--write", place("other")]] {
      #expect(try Probe.answer(options, "special-mode", "\(place("own/file")):\(mode)") == 0)
      #expect(try Probe.answer(options, "special-tmpfile", place("own")) == EPERM)
    }
    // The twin: ordinary modes of these calls pass.
    #expect(try Probe.answer(["--write", place("own")], "special-mode", "\(place("own/file")):0755") == EEXIST)
  }
}
