import Glibc
import Synchronization

/// Processes of a command that a host left behind when it was killed.
///
/// A command's own process dies with the host, but not what that has started: the next run would work beside it. What began a session of its
/// own, as a daemon does, is left alone.
enum Leftovers {
  /// The data directories that were looked after. A command's runs wait here for the first one.
  private static let done = Mutex<Set<String>>([])

  /// Ends the processes of earlier runs, once for each command. In a sandbox, the host has ended them with the worker.
  static func endOnce(_ settings: CommandSettings, in dataDirectory: String, _ log: OutputLog) {
    guard !settings.isSandboxed else { return }
    let ended = done.withLock { done in done.insert(dataDirectory).inserted ? end(of: dataDirectory) : 0 }
    if ended > 0 { log.note("\(ended) processes of an earlier run were left behind when its host was killed: they are ended now") }
  }

  /// Ends the processes of earlier runs. Call it before the first run of the command in this process.
  ///
  /// They are known by two variables: the command's data directory, which no other command of any host has, and the session.
  ///
  /// - Returns: The number of processes that were ended.
  static func end(of dataDirectory: String) -> Int {
    guard let folder = opendir("/proc") else { return 0 }
    defer { closedir(folder) }
    var ended = 0
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let process = Int32(name), process > 1, process != getpid() else { continue }
      let session = getsid(process)
      guard session > 1, isMarked(process, dataDirectory, session) else { continue }
      if kill(process, SIGKILL) == 0 { ended += 1 }
    }
    return ended
  }

  /// Whether the program of the process was started with these two variables.
  private static func isMarked(_ process: Int32, _ dataDirectory: String, _ session: Int32) -> Bool {
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
    let digits = String(session)
    let marks = [
      "TASKHOST_DATA_DIRECTORY=\(dataDirectory)",
      "\(CommandEnvironment.session)=\(String(repeating: "0", count: max(0, 10 - digits.count)))\(digits)",
    ]
    let variables = text.split(separator: 0)
    return marks.allSatisfy { mark in variables.contains { $0.elementsEqual(mark.utf8) } }
  }
}
