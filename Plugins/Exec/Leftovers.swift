import Glibc

/// Processes of a command that a host left behind when it was killed.
///
/// A command's own process dies with the host, but not what that has started: the next run would work beside it.
enum Leftovers {
  /// Ends the processes that carry the variable of the command's data directory, which no other command of any host has.
  ///
  /// Call it before the first run of the command in this process.
  ///
  /// - Returns: The number of processes that were ended.
  static func end(of dataDirectory: String) -> Int {
    let mark = Array("TASKHOST_DATA_DIRECTORY=\(dataDirectory)".utf8)
    guard let folder = opendir("/proc") else { return 0 }
    defer { closedir(folder) }
    var ended = 0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let process = Int32(name), process > 1, process != getpid(), carries(mark, process) else { continue }
      if kill(process, SIGKILL) == 0 { ended += 1 }
    }
    return ended
  }

  /// Whether the variable is in the process's environment, as that was when its program started.
  private static func carries(_ mark: [UInt8], _ process: Int32) -> Bool {
    let descriptor = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // The kernel limits arguments and environment of a program to 6 MiB.
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while text.count < 6 << 20 {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      text.append(contentsOf: buffer[..<count])
    }
    return text.split(separator: 0).contains { $0.elementsEqual(mark) }
  }
}
