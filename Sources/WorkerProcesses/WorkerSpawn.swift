import CCrashCell
import Glibc
import HostProcesses
import TaskModel
import WorkerLink

/// Starts one worker process: descriptors, environment, process group.
enum WorkerSpawn {
  /// Why none could be started.
  struct Failure: Error {
    /// A sentence.
    let observed: String
    let cause: ShortageCause
  }

  /// The host's ends.
  struct Spawned {
    let process: pid_t
    let processDescriptor: Int32
    let link: Int32
    let output: Int32
    let errors: Int32
    let cell: UnsafeMutablePointer<taskhost_crash_cell>
    /// What it is to be confined to.
    let confinement: Confinement
    /// Entitlements that have no effect, a sentence each.
    let ignored: [String]
  }

  /// The worker's descriptors by number: its link, its crash cell, then what its entitlements name.
  private static let linkNumber: Int32 = 3
  private static let cellNumber: Int32 = 4
  private static let firstPathNumber: Int32 = 5

  static func start(_ spec: WorkerSpec) throws(Failure) -> Spawned {
    let descriptors = ChildDescriptors(atMost: firstPathNumber + Int32(clamping: spec.entitled.count))
    let paths = try OpenedPaths(spec, from: firstPathNumber, descriptors)
    do throws(SystemFailure) { return try started(spec, paths, descriptors) } catch {
      let remedy = error.code == EMFILE || error.code == ENFILE ? ": raise the limit of descriptors" : ""
      throw Failure(
        observed: error.what == spec.executable
          ? "\(spec.executable) could not be started: \(error.reason)"
          : "\(error.what) for a worker could not be made: \(error.reason)\(remedy)",
        cause: error.what != spec.executable || Self.lacks(error.code) ? .resources : .worker)
    }
  }

  /// Whether the error says that there is too little of something.
  static func lacks(_ code: Int32) -> Bool { [EAGAIN, EMFILE, ENFILE, ENOMEM].contains(code) }

  private static func started(
    _ spec: WorkerSpec, _ paths: OpenedPaths, _ descriptors: ChildDescriptors
  ) throws(SystemFailure) -> Spawned {
    let pair: (host: Int32, worker: Int32)
    do throws(LinkError) { pair = try LinkSocket.pair() } catch {
      if case .system(_, let code) = error { throw SystemFailure("a link", code) }
      throw SystemFailure("a link")
    }
    let link = descriptors.own(pair.host)
    let workerLink = try descriptors.high(descriptors.own(pair.worker), "a link")
    let output = try descriptors.pipe()
    let errors = try descriptors.pipe()
    let null = try descriptors.high(descriptors.own(open("/dev/null", O_RDWR | O_CLOEXEC)), "/dev/null")
    let cell = try descriptors.crashCell()
    let program = ChildProgram(spec.executable, arguments: ["taskhost-worker", spec.name], environment: spec.environment)
    do throws(SystemFailure) {
      let child = try program.start(
        [(null, 0), (output.write, 1), (errors.write, 2), (workerLink, linkNumber), (cell.descriptor, cellNumber)] + paths.transfers)
      return Spawned(
        process: child.process, processDescriptor: child.descriptor, link: descriptors.take(link), output: descriptors.take(output.read),
        errors: descriptors.take(errors.read), cell: cell.memory, confinement: paths.confinement, ignored: paths.ignored)
    } catch {
      munmap(cell.memory, MemoryLayout<taskhost_crash_cell>.size)
      throw error
    }
  }
}
