import CPluginCheck

/// What this process holds.
struct ProcessUse {
  /// Open descriptors.
  let descriptors: Int
  /// Threads.
  let threads: Int
  /// Bytes that malloc has given out.
  let memory: Int

  /// As it is now.
  init() {
    descriptors = ProcFile.numbers(in: "/proc/self/fd").count
    threads = ThreadList.numbers().count
    memory = Int(clamping: taskhost_check_memory_in_use())
  }
}
