import CPluginCheck
import Glibc

/// The resources that this process uses.
struct ProcessUse {
  let descriptors: Int
  let threads: Int
  /// Child processes, including zombies.
  let children: Int
  /// Bytes allocated with malloc.
  let memory: Int
  /// Bytes of private memory outside malloc's allocations: mappings and malloc's reserve.
  let mapped: Int
  /// Bytes of address space.
  let space: Int
}

extension ProcessUse {
  init() {
    let numbers = ThreadList.numbers()
    let memory = Int(clamping: taskhost_check_memory_in_use())
    let status = ProcFile.text("/proc/self/status")
    func bytes(_ name: String) -> Int { 1024 * (ProcFile.value(name, in: status).split(separator: " ").first.flatMap { Int($0) } ?? 0) }
    self.init(
      descriptors: ProcFile.numbers(in: "/proc/self/fd").count, threads: numbers.count, children: Self.childCount(of: numbers),
      memory: memory, mapped: max(0, bytes("RssAnon") - memory), space: bytes("VmSize"))
  }

  /// The number of children of the threads; 0 if the kernel does not report it.
  static func childCount(of threads: Set<Int32>) -> Int {
    threads.reduce(0) { $0 + ProcFile.text("/proc/self/task/\($1)/children").split(separator: " ").count }
  }
}
