import CCrashCell
import CPluginCheck
import CTaskHostSystem
import Glibc

/// Starts a case process: this very program again, with its descriptors and in a group of its own.
enum CaseSpawn {
  /// The checker's ends.
  struct Spawned {
    let process: pid_t
    let processDescriptor: Int32
    let news: Int32
    let output: Int32
    let cell: UnsafeMutablePointer<taskhost_crash_cell>
  }

  /// Descriptors that are closed when it goes out of use, unless they were taken.
  private final class Descriptors {
    private var open: [Int32] = []
    func own(_ descriptor: Int32) -> Int32 {
      open.append(descriptor)
      return descriptor
    }
    func take(_ descriptor: Int32) -> Int32 {
      open.removeAll { $0 == descriptor }
      return descriptor
    }
    deinit { for descriptor in open { close(descriptor) } }
  }

  static func start(_ order: CaseOrder, directory: String) throws(CheckFailure) -> Spawned {
    let descriptors = Descriptors()
    let orderFile = try high(descriptors.own(taskhost_system_memfd("taskhost-check-order")), descriptors)
    try write(order.encode(), to: orderFile)
    let news = try pipe(descriptors)
    let output = try pipe(descriptors)
    let size = MemoryLayout<taskhost_crash_cell>.size
    let cellFile = try high(descriptors.own(taskhost_system_memfd("taskhost-crash")), descriptors)
    guard ftruncate(cellFile, size) == 0, let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, cellFile, 0),
      memory != MAP_FAILED
    else { throw failure("memory shared with a case process") }
    let null = try high(descriptors.own(open("/dev/null", O_RDONLY | O_CLOEXEC)), descriptors)
    let process: pid_t
    do throws(CheckFailure) {
      process = try spawn(
        in: directory,
        placing: [
          (null, 0), (output.write, 1), (output.write, 2), (orderFile, CaseProcess.orderDescriptor),
          (news.write, CaseProcess.newsDescriptor), (cellFile, CaseProcess.cellDescriptor),
        ])
    } catch {
      munmap(memory, size)
      throw error
    }
    let processDescriptor = taskhost_process_descriptor(process)
    guard processDescriptor >= 0 else {
      let problem = failure("pidfd_open")
      kill(-process, SIGKILL)
      waitpid(process, nil, 0)
      munmap(memory, size)
      throw problem
    }
    return Spawned(
      process: process, processDescriptor: processDescriptor, news: descriptors.take(news.read), output: descriptors.take(output.read),
      cell: memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1))
  }

  private static func spawn(in directory: String, placing: [(from: Int32, to: Int32)]) throws(CheckFailure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (from, to) in placing { posix_spawn_file_actions_adddup2(&actions, from, to) }
    _ = taskhost_process_close_from(&actions, CaseProcess.cellDescriptor + 1)
    _ = taskhost_check_begin_in(&actions, directory)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    guard let executable = realpath("/proc/self/exe", nil) else { throw failure("the path of this program") }
    defer { free(executable) }
    var process = pid_t()
    let arguments = [strdup("taskhost"), strdup(CaseProcess.argument), nil]
    defer { arguments.forEach { free($0) } }
    let code = posix_spawn(&process, executable, &actions, &attributes, arguments, environ)
    guard code == 0 else { throw CheckFailure("a case process could not be started: \(String(cString: strerror(code)))") }
    return process
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(CheckFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw failure("the order of a case process") }
      rest = rest.dropFirst(count)
    }
    lseek(descriptor, 0, SEEK_SET)
  }

  private static func pipe(_ descriptors: Descriptors) throws(CheckFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw failure("a pipe") }
    let reading = descriptors.own(ends[0])
    let writing = descriptors.own(ends[1])
    _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
    _ = taskhost_set_nonblocking(reading)
    return (reading, try high(writing, descriptors))
  }

  /// A copy of the descriptor with a number above those that the process gets.
  private static func high(_ descriptor: Int32, _ descriptors: Descriptors) throws(CheckFailure) -> Int32 {
    guard descriptor >= 0 else { throw failure("a descriptor") }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 16)
    guard copy >= 0 else { throw failure("a descriptor") }
    close(descriptors.take(descriptor))
    return descriptors.own(copy)
  }

  private static func failure(_ what: String) -> CheckFailure {
    CheckFailure("\(what) could not be had: \(String(cString: strerror(errno)))")
  }
}
