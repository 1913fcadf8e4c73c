import Glibc
import HostThreads
import TaskModel
import TaskStore

/// The system's limits on this process (getrlimit(2)), checked before the host launches rather than discovered by its parts.
public enum ProcessLimits {
  /// The descriptors of a host without plugins, and some for clients and workers.
  static let leastDescriptors = 96
  /// Bytes of address space that the threads of a host reserve: their stacks, and 64 MiB each for the allocator.
  static let leastAddresses = 1 << 30
  /// The threads of a host without plugins.
  static let leastThreads = 24

  /// A sentence about the limit that prevents a launch, with its remedy; nil if there is none.
  public static var obstacle: String? {
    if let descriptors, descriptors < leastDescriptors {
      return "\(descriptors) descriptors are allowed, a host needs \(leastDescriptors): raise the limit (ulimit -n, LimitNOFILE=)"
    }
    if let addresses = limit(RLIMIT_AS), !canMap(leastAddresses) {
      return
        "\(addresses >> 20) MiB of addresses are allowed, a host needs \(leastAddresses >> 20) MiB more than are left, most of which it never"
        + " touches: raise the limit (ulimit -v, LimitAS=), and bound the memory by a control group (MemoryMax=)"
    }
    return canStartThreads(leastThreads)
      ? nil : "a host needs \(leastThreads) threads, and the system does not give as many: raise the limit (ulimit -u, TasksMax=)"
  }

  /// How many descriptors this process may have open; nil if there is no limit.
  static var descriptors: UInt64? { limit(RLIMIT_NOFILE) }

  /// Limits that the operator should know about although the host can launch.
  static var problems: [Problem] {
    guard let bytes = FileSizeLimit.bytes else { return [] }
    return [
      Problem(
        .limit, "files may not grow beyond \(bytes) bytes here: once the store is as large, nothing is accepted or run any more",
        remedy: FileSizeLimit.remedy, needsAction: false)
    ]
  }

  /// Nil if there is no limit.
  private static func limit(_ resource: __rlimit_resource) -> UInt64? {
    var limits = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limits) == 0, limits.rlim_cur != rlim_t.max else { return nil }
    return UInt64(limits.rlim_cur)
  }

  private static func canMap(_ bytes: Int) -> Bool {
    let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let place, place != MAP_FAILED else { return false }
    munmap(place, bytes)
    return true
  }

  /// Starts `count` threads that live at the same time, then ends them.
  private static func canStartThreads(_ count: Int) -> Bool {
    let gate = Monitor()
    let state = Guarded((isOpen: false, live: 0))
    var started = 0
    for _ in 0..<count {
      state.withLock { $0.live += 1 }
      do throws(HostThread.Failure) {
        try HostThread.start("limits") {
          gate.locked { while !state.withLock({ $0.isOpen }) { gate.wait() } }
          state.withLock { $0.live -= 1 }
          gate.locked { gate.broadcast() }
        }
        started += 1
      } catch {
        state.withLock { $0.live -= 1 }
        break
      }
    }
    gate.locked {
      state.withLock { $0.isOpen = true }
      gate.broadcast()
      while state.withLock({ $0.live }) > 0 { gate.wait() }
    }
    return started == count
  }
}
