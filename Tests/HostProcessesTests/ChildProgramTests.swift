import CCrashCell
import Foundation
import HostProcesses
import Testing

@Suite("Children") struct ChildProgramTests {
  /// What a shell says that has its output and nothing else, once it has ended.
  private func said(_ script: String, directory: String? = nil) throws -> String {
    let descriptors = ChildDescriptors()
    let output = try descriptors.pipe()
    let null = try descriptors.high(descriptors.own(open("/dev/null", O_RDWR | O_CLOEXEC)), "/dev/null")
    let program = ChildProgram("/bin/sh", arguments: ["the-shell", "-c", script], environment: ["WORD=a b"], directory: directory)
    let child = try program.start([(null, 0), (output.write, 1), (null, 2)])
    defer { close(child.descriptor) }
    var end = pollfd(fd: child.descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&end, 1, 30_000) == 1 else {
      kill(-child.process, SIGKILL)
      waitpid(child.process, nil, 0)
      throw SystemFailure("the end of the shell", ETIMEDOUT)
    }
    waitpid(child.process, nil, 0)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(output.read, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("a child has the descriptors it is given and no other, whatever this process has open") func descriptors() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    // The listing itself has one open.
    #expect(try said("ls /proc/$$/fd").split(separator: "\n") == ["0", "1", "2"])
  }

  @Test("it has its name, its environment, its directory, and leads a group of its own") func surroundings() throws {
    #expect(try said("echo $0; echo $WORD; env | wc -l; pwd", directory: "/usr").hasPrefix("the-shell\na b\n"))
    #expect(try said("pwd", directory: "/usr") == "/usr\n")
    // Behind the name in brackets: the state, the parent, the group.
    let words = try said("echo $$; sed 's/.*) //' /proc/$$/stat").split { $0 == "\n" || $0 == " " }
    #expect(words.count > 3 && words[0] == words[3])
  }

  @Test("no signal is blocked or ignored in it, whatever is in the thread that starts it") func signals() throws {
    var (set, before) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    sigaddset(&set, SIGUSR1)
    pthread_sigmask(SIG_BLOCK, &set, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let lines = try said("grep -E 'Sig(Blk|Ign)' /proc/self/status").split(separator: "\n")
    #expect(lines.count == 2)
    // Those of the C library (32 and 33) aside.
    #expect(
      lines.allSatisfy { line in line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }.map { $0 & 0x7FFF_FFFF } == 0 },
      "\(lines)")
  }

  @Test("one that cannot be started is an error with its path, and leaves nothing") func missing() throws {
    let program = ChildProgram("/nowhere/program", arguments: ["program"], environment: [])
    #expect {
      try program.start([])
    } throws: { error in
      guard let failure = error as? SystemFailure else { return false }
      return failure.what == "/nowhere/program" && failure.code == ENOENT && failure.reason == "No such file or directory"
    }
  }

  @Test("descriptors are closed with their owner, unless they were taken") func owned() throws {
    var taken: Int32 = -1
    do {
      let descriptors = ChildDescriptors()
      let pipe = try descriptors.pipe()
      #expect(pipe.write >= 16)
      #expect(fcntl(pipe.read, F_GETFL) & O_NONBLOCK != 0)
      #expect(fcntl(pipe.write, F_GETFD) == FD_CLOEXEC)
      taken = descriptors.take(pipe.read)
    }
    // It is open, and the other end, which nobody took, is closed: that is the end of the pipe, once no child that another test starts at this
    // moment has a copy.
    var byte: UInt8 = 0
    var end = pollfd(fd: taken, events: Int16(POLLIN), revents: 0)
    #expect(poll(&end, 1, 30_000) == 1)
    #expect(read(taken, &byte, 1) == 0)
    close(taken)
    #expect(throws: SystemFailure.self) {
      errno = EMFILE
      _ = try ChildDescriptors().high(-1, "a thing")
    }
  }

  @Test("a crash cell is shared memory that a child can neither cut off nor extend") func cell() throws {
    let descriptors = ChildDescriptors()
    let (descriptor, memory) = try descriptors.crashCell()
    defer { munmap(memory, MemoryLayout<taskhost_crash_cell>.size) }
    #expect(ftruncate(descriptor, 0) == -1 && errno == EPERM)
    #expect(ftruncate(descriptor, 1 << 20) == -1 && errno == EPERM)
    var byte: UInt8 = 0x5A
    #expect(pwrite(descriptor, &byte, 1, 0) == 1)
    #expect(UnsafeRawPointer(memory).load(as: UInt8.self) == 0x5A)
  }
}
