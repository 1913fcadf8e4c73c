import CPluginCheck
import Glibc

/// What this process holds.
struct ProcessUse {
  /// Open descriptors.
  let descriptors: Int
  /// Threads.
  let threads: Int
  /// Child processes, those included that have ended and were not waited for.
  let children: Int
  /// Bytes that malloc has given out.
  let memory: Int
  /// Bytes of memory of its own that malloc has not given out: mappings, and what malloc keeps.
  let mapped: Int
  /// Bytes of address space.
  let space: Int
}

extension ProcessUse {
  /// As it is now.
  init() {
    let numbers = ThreadList.numbers()
    let memory = Int(clamping: taskhost_check_memory_in_use())
    let status = ProcFile.text("/proc/self/status")
    func bytes(_ name: String) -> Int { 1024 * (ProcFile.value(name, in: status).split(separator: " ").first.flatMap { Int($0) } ?? 0) }
    self.init(
      descriptors: ProcFile.numbers(in: "/proc/self/fd").count, threads: numbers.count, children: Self.childCount(of: numbers),
      memory: memory, mapped: max(0, bytes("RssAnon") - memory), space: bytes("VmSize"))
  }

  /// The children of the threads; 0 where the kernel does not tell.
  static func childCount(of threads: Set<Int32>) -> Int {
    threads.reduce(0) { $0 + ProcFile.text("/proc/self/task/\($1)/children").split(separator: " ").count }
  }
}
