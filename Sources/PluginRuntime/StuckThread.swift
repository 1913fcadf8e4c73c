import CCrashCell
import Glibc

/// Inspects a hanging thread of this process.
enum StuckThread {
  /// Its name, and its stack with one line for each frame; the stack is empty if the thread does not answer within 50 ms.
  static func look(at number: Int32) -> (name: String, stack: String) {
    let capacity = Int(TASKHOST_CRASH_TEXT)
    let stack = String(unsafeUninitializedCapacity: capacity) { buffer in
      var length = 0
      let status = buffer.withMemoryRebound(to: CChar.self) { taskhost_crash_stack_of(number, $0.baseAddress, capacity, &length, 50) }
      return status == 0 ? length : 0
    }
    return (name(of: number), stack.hasSuffix("\n") ? String(stack.dropLast()) : stack)
  }

  private static func name(of number: Int32) -> String {
    let descriptor = open("/proc/self/task/\(number)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "\(number)" }
    defer { Glibc.close(descriptor) }
    let name = String(unsafeUninitializedCapacity: 32) { max(0, read(descriptor, $0.baseAddress, 32)) }
    return "\(name.split(separator: "\n").first ?? "") (\(number))"
  }
}
