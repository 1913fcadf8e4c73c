import CCrashCell
import Glibc
import HostThreads

enum ProcFile {
  /// The first 64 KiB of the file's text; empty if it cannot be read.
  static func text(_ path: String) -> String { String(decoding: (try? WholeTransfer.read(path, atMost: 65_536)) ?? [], as: UTF8.self) }

  /// The value after `name:` in a file of lines.
  static func value(_ name: String, in text: String) -> String {
    for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.utf8.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
    return ""
  }

  /// The names in a directory that are numbers, such as those of threads.
  static func numbers(in path: String) -> [Int32] { ((try? DirectoryNames.list(at: path)) ?? []).compactMap { Int32($0) } }
}

enum ThreadList {
  static func numbers() -> Set<Int32> { Set(ProcFile.numbers(in: "/proc/self/task")) }

  static func name(of number: Int32) -> String {
    ProcFile.text("/proc/self/task/\(number)/comm").split(separator: "\n").first.map(String.init) ?? ""
  }

  /// Whether it is a thread of libdispatch, which keeps its threads and cannot be told to end them.
  ///
  /// Libdispatch names them after queues such as `com.apple.root.default-qos` and `com.apple.libdispatch-manager`. The kernel has the last
  /// 15 bytes of these names.
  static func isOfDispatch(_ number: Int32) -> Bool {
    let name = name(of: number)
    return ["-qos", "-qos.overcommit", "ispatch-manager"].contains { name.hasSuffix($0) }
  }

  /// How many nanoseconds the thread has run, or its context switches if the kernel does not report the time; nil if it has ended.
  static func activity(of number: Int32) -> Int? {
    let times = ProcFile.text("/proc/self/task/\(number)/schedstat").split(whereSeparator: { $0 == " " || $0 == "\n" })
    if times.count == 3, let time = Int(times[0]), time > 0 { return time }
    let status = ProcFile.text("/proc/self/task/\(number)/status")
    let counts = ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"].compactMap { Int(ProcFile.value($0, in: status)) }
    return counts.count == 2 ? counts[0] + counts[1] : nil
  }

  /// The thread's stack, one line for each frame; empty if it could not be read.
  static func stack(of number: Int32) -> String {
    let capacity = Int(TASKHOST_CRASH_TEXT)
    let stack = String(unsafeUninitializedCapacity: capacity) { buffer in
      var length = 0
      let status = buffer.withMemoryRebound(to: CChar.self) { taskhost_crash_stack_of(number, $0.baseAddress, capacity, &length, 200) }
      return status == 0 ? length : 0
    }
    return stack.hasSuffix("\n") ? String(stack.dropLast()) : stack
  }
}
