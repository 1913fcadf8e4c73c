import CCrashCell
import CTaskHostSystem
import Glibc
import TaskModel
import WorkerLink

/// Starts one worker process: descriptors, environment, process group.
enum WorkerSpawn {
  /// Why none could be started: a sentence.
  struct Failure: Error { let observed: String }

  /// The host's ends.
  struct Spawned {
    let process: pid_t
    let processDescriptor: Int32
    let link: Int32
    let output: Int32
    let errors: Int32
    let cell: UnsafeMutablePointer<taskhost_crash_cell>
  }

  /// The worker's descriptors by number: its link and its crash cell.
  private static let linkNumber: Int32 = 3
  private static let cellNumber: Int32 = 4

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

  static func start(_ spec: WorkerSpec) throws(Failure) -> Spawned {
    let descriptors = Descriptors()
    let pair: (host: Int32, worker: Int32)
    do throws(LinkError) { pair = try LinkSocket.pair() } catch {
      if case .system(_, let code) = error { errno = code }
      throw failure("a link")
    }
    let link = descriptors.own(pair.host)
    // Above the numbers they become, so that none overwrites another on the way there.
    let workerLink = try high(descriptors.own(pair.worker), descriptors)
    let output = try pipe(descriptors)
    let errors = try pipe(descriptors)
    let (cellDescriptor, cell) = try makeCell(descriptors)
    let null = descriptors.own(open("/dev/null", O_RDWR | O_CLOEXEC))
    guard null >= 0 else { throw failure("/dev/null") }

    let process: pid_t
    do {
      process = try spawn(
        spec,
        placing: [
          (try high(null, descriptors), 0), (output.write, 1), (errors.write, 2), (workerLink, linkNumber), (cellDescriptor, cellNumber),
        ])
    } catch {
      munmap(cell, MemoryLayout<taskhost_crash_cell>.size)
      throw error
    }
    let processDescriptor = taskhost_process_descriptor(process)
    guard processDescriptor >= 0 else {
      let problem = failure("pidfd_open")
      kill(-process, SIGKILL)
      waitpid(process, nil, 0)
      munmap(cell, MemoryLayout<taskhost_crash_cell>.size)
      throw problem
    }
    return Spawned(
      process: process, processDescriptor: processDescriptor, link: descriptors.take(link), output: descriptors.take(output.read),
      errors: descriptors.take(errors.read), cell: cell)
  }

  private static func spawn(_ spec: WorkerSpec, placing: [(from: Int32, to: Int32)]) throws(Failure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (from, to) in placing { posix_spawn_file_actions_adddup2(&actions, from, to) }
    _ = taskhost_process_close_from(&actions, cellNumber + 1)

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

    var process = pid_t()
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("taskhost-worker"), strdup(spec.name), nil]
    let environment: [UnsafeMutablePointer<CChar>?] = spec.environment.map { strdup($0) } + [nil]
    defer { (arguments + environment).forEach { free($0) } }
    let code = posix_spawn(&process, spec.executable, &actions, &attributes, arguments, environment)
    guard code == 0 else {
      throw Failure(observed: "\(spec.executable) could not be started: \(String(cString: strerror(code)))")
    }
    return process
  }

  private static func makeCell(
    _ descriptors: Descriptors
  ) throws(Failure) -> (descriptor: Int32, cell: UnsafeMutablePointer<taskhost_crash_cell>) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let descriptor = try high(descriptors.own(taskhost_system_memfd("taskhost-crash")), descriptors)
    guard ftruncate(descriptor, size) == 0 else { throw failure("its crash cell") }
    // A worker that cut the cell off would make the host's next look at it a fault.
    guard taskhost_system_seal_size(descriptor) == 0 else { throw failure("its crash cell") }
    guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
      throw failure("its crash cell")
    }
    return (descriptor, memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1))
  }

  private static func pipe(_ descriptors: Descriptors) throws(Failure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw failure("a pipe") }
    let reading = descriptors.own(ends[0])
    let writing = descriptors.own(ends[1])
    _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
    _ = taskhost_set_nonblocking(reading)
    return (reading, try high(writing, descriptors))
  }

  /// A copy of the descriptor with a number above those that the worker's get.
  private static func high(_ descriptor: Int32, _ descriptors: Descriptors) throws(Failure) -> Int32 {
    guard descriptor >= 0 else { throw failure("a descriptor") }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 16)
    guard copy >= 0 else { throw failure("a descriptor") }
    close(descriptors.take(descriptor))
    return descriptors.own(copy)
  }

  private static func failure(_ what: String) -> Failure {
    let code = errno
    return Failure(
      observed: "\(what) for a worker could not be made: \(String(cString: strerror(code)))"
        + (code == EMFILE || code == ENFILE ? ": raise the limit of descriptors" : ""))
  }
}
