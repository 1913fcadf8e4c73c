import Foundation
import Glibc
import Testing

@Suite("Processes") struct ProcessTests {
  private static let program = "/bin/true"
  private static let abis = [0] + Kernel.abis

  @Test("without exec there are no new processes and no programs", arguments: abis)
  func noExecution(_ abi: Int) throws {
    let result = try Probe.run(
      ["--landlock", "\(abi)"],
      [("fork", ""), ("clone", "0"), ("clone", "0x4100"), ("execve", Self.program), ("spawn", Self.program), ("system", "true")])
    #expect(result.answers == Array(repeating: EPERM, count: 5) + [ENOEXEC])
  }

  @Test("threads start and can be signalled, at every ABI", arguments: abis)
  func threads(_ abi: Int) throws {
    let result = try Probe.run(
      ["--landlock", "\(abi)"], [("threads", "20"), ("pthread-kill", ""), ("kill-self", ""), ("call", "clone3:0:0"), ("nice-self", "")])
    #expect(result.answers == [0, 0, 0, ENOSYS, 0])
  }

  @Test("with exec it starts the system's programs", arguments: abis)
  func execution(_ abi: Int) throws {
    let result = try Probe.run(
      ["--exec", "true", "--landlock", "\(abi)"],
      [("fork", ""), ("clone", "0"), ("spawn", Self.program), ("system", "true && ls /usr/bin > /dev/null")])
    #expect(result.answers == [0, 0, 0, 0])
    #expect(try Probe.run(["--exec", "true"], [("execve", Self.program)]).answers == [])
  }

  @Test("with exec it starts nothing from the folders it can write or read", .enabled(if: Kernel.landlockABI > 0))
  func foreignPrograms() throws {
    let place = try Playground()
    for folder in ["own", "other"] { try FileManager.default.copyItem(atPath: Self.program, toPath: place("\(folder)/program")) }
    let options = ["--exec", "true", "--data", place("own"), "--read", place("other")]
    #expect(try Probe.answer(options, "spawn", place("own/program")) == EACCES)
    #expect(try Probe.answer(options, "spawn", place("other/program")) == EACCES)
  }

  @Test("a program it starts is confined as it is", .enabled(if: Kernel.landlockABI > 0))
  func inherited() throws {
    let place = try Playground()
    let options = ["--exec", "true", "--data", place("own")]
    #expect(try Probe.answer(options, "system", "cat \(place("own/file")) > /dev/null") == 0)
    #expect(try Probe.answer(options, "system", "cat \(place("other/file")) > /dev/null 2>&1") > 2000)
    #expect(try Probe.answer(options, "system", "echo x > \(place("other/file"))") > 2000)
  }

  @Test("no namespace and no child of the host's, with exec or without", arguments: ["true", "false"])
  func namespaces(_ exec: String) throws {
    let flags = ["0x20000", "0x2000000", "0x4000000", "0x8000000", "0x10000000", "0x20000000", "0x40000000", "0x8000"]
    let result = try Probe.run(["--exec", exec], flags.map { ("clone", $0) })
    #expect(result.answers == flags.map { _ in EPERM })
  }

  @Test("no signal leaves the process", arguments: abis)
  func signals(_ abi: Int) throws {
    let result = try Probe.run(
      ["--landlock", "\(abi)"],
      [
        ("kill-parent", ""), ("kill-group", ""), ("kill", "1"), ("kill", "-1"), ("call", "tgkill:1:1:0"), ("call", "tkill:1:0"),
        ("call", "rt_sigqueueinfo:1:0:0"), ("call", "fcntl:0:8:1"), ("call", "fcntl:0:15:0"), ("call", "fcntl:0:0x100000008:1"),
        ("call", "fcntl:0:10:9"), ("call", "ioctl:0:0x8901:0"), ("call", "ioctl:0:0x8902:0"),
      ])
    #expect(result.answers == Array(repeating: EPERM, count: 13))
  }

  @Test("with exec, programs it started can be signalled from ABI 6 on, others never", arguments: Kernel.abis)
  func signalsToChildren(_ abi: Int) throws {
    let result = try Probe.run(
      ["--exec", "true", "--landlock", "\(abi)"], [("signal-child", "/bin/cat"), ("kill-parent", ""), ("kill", "1")])
    #expect(result.answers == [abi < 6 ? EPERM : 0, EPERM, EPERM])
  }

  @Test("every capability is gone for good, at every ABI", arguments: abis)
  func capabilities(_ abi: Int) throws {
    #expect(try Probe.answer(["--landlock", "\(abi)"], "capabilities") == 0)
    #expect(try Probe.answer(["--landlock", "\(abi)", "--exec", "true"], "capabilities") == 0)
  }

  @Test("io_uring, mounts, tracing, clocks, keys and the like are refused by the filter itself", arguments: ["true", "false"])
  func filteredCalls(_ exec: String) throws {
    #expect(try Probe.answer(["--filter-only", "1", "--exec", exec], "all-denied") == 0)
  }

  @Test("calls that name another process, or change the rules, are refused by their arguments")
  func filteredArguments() throws {
    let refused = [
      "personality:0x0040000", "personality:0", "prctl:1:0", "prctl:0x100000001:0", "prlimit64:1:7:0:0", "setpriority:0:1:5",
      "setpriority:1:0:5", "sched_setaffinity:1:0:0", "ioprio_set:1:1:0", "ioprio_set:3:0:0x6000", "ioprio_set:2:0:0x6000",
      "ioctl:0:0x5412:0", "ioctl:0:0x100005412:0", "ioctl:0:0x541c:0",
      "fcntl:0:1024:0",
    ]
    let result = try Probe.run(["--filter-only", "1"], refused.map { ("call", $0) })
    #expect(result.answers == refused.map { _ in EPERM })

    let allowed = ["personality:0xffffffff", "prlimit64:0:7:0:0", "setpriority:0:0:1", "ioprio_set:1:0:0x6000", "fcntl:0:1:0"]
    #expect(try Probe.run([], allowed.map { ("call", $0) }).answers == allowed.map { _ in 0 })
  }

  @Test("openat2, which a filter cannot look into, is not there", arguments: abis)
  func openat2(_ abi: Int) throws {
    #expect(try Probe.answer(["--landlock", "\(abi)"], "call", "openat2:-1:0:0:0") == ENOSYS)
  }

  #if arch(x86_64)
    @Test("system calls of another architecture kill the process")
    func otherArchitecture() throws {
      let x32 = try Probe.run([], [("call", "0x40000027")])
      #expect(x32.answers == [])
      #expect(x32.signal == SIGSYS)
      let i386 = try Probe.run([], [("call-32-bit", "")])
      #expect(i386.answers == [])
      // SIGSEGV: a kernel without them.
      #expect(i386.signal == SIGSYS || i386.signal == SIGSEGV)
    }
  #endif
}
