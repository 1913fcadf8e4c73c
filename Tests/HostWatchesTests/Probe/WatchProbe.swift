import Glibc
import HostWatches

/// Watches in a process of its own, and says what it sees: a line an answer, as asked by lines of its input.
@main
struct WatchProbe {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "clock": try clock()
    case "files": try files(Array(arguments.dropFirst()))
    case "no-descriptors": withoutDescriptors()
    default: say("usage: watch-probe clock | files | no-descriptors")
    }
  }

  /// Says by how much the calendar is moved, each time it is set, against the time before that.
  private static func clock() throws {
    let first = ClockOffset.now()
    let watch = try ClockWatch {
      say("moved \(ClockOffset.now().moved(since: first)?.components.seconds.description ?? "unknown")")
    } failed: {
      say("failed \($0)")
    }
    say("ready")
    while let line = readLine() {
      if line == "waits" { waits("clock") }
    }
    watch.stop()
    say("stopped")
  }

  /// Watches the paths that a line names with spaces between; says the problems of that, and what changes.
  private static func files(_ first: [String]) throws {
    let watches = try FileWatches {
      say("changed \($0)")
    } failed: {
      say("failed \($0)")
    }
    say("ready")
    while let line = readLine() {
      switch line {
      case "waits": waits("files")
      case "masks": masks()
      case "problems": say("problems \(sentences(watches.problems))")
      default: say("watching \(sentences(watches.watch(Set(line.split(separator: " ").dropFirst().map(String.init)))))")
      }
    }
    watches.stop()
    say("stopped")
  }

  /// Says what is said to a process that has no descriptor left.
  private static func withoutDescriptors() {
    var limit = rlimit(rlim_cur: 3, rlim_max: 3)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    do { _ = try ClockWatch(changed: {}, failed: { _ in }) } catch { say("clock \(error)") }
    do { _ = try FileWatches(changed: { _ in }, failed: { _ in }) } catch { say("files \(error)") }
  }

  private static func sentences(_ problems: [String: String]) -> String {
    problems.sorted { $0.key < $1.key }.map { "[\($0.key): \($0.value)]" }.joined(separator: " ")
  }

  /// Which system call the thread of that name waits in, and its arguments.
  private static func waits(_ thread: String) {
    // It may not have its name yet, nor have come to its wait.
    while true {
      for task in entries(of: "/proc/self/task") where text(of: "/proc/self/task/\(task)/comm") == "\(thread)\n" {
        let call = text(of: "/proc/self/task/\(task)/syscall")
        // poll and ppoll, on x86_64 and on arm64.
        if call.hasPrefix("7 ") || call.hasPrefix("73 ") { return say("waits \(call.dropLast())") }
      }
      sched_yield()
    }
  }

  /// What the kernel is asked to tell of each object that is watched.
  private static func masks() {
    let lines = entries(of: "/proc/self/fdinfo").flatMap { text(of: "/proc/self/fdinfo/\($0)").split(separator: "\n") }
    let masks = lines.filter { $0.hasPrefix("inotify ") }.compactMap { $0.split(separator: " ").first { $0.hasPrefix("mask:") } }
    say("masks \(masks.map { String($0.dropFirst(5)) }.sorted().joined(separator: " "))")
  }

  private static func entries(of path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func text(of path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// One write, so that threads do not mix their lines.
  private static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
  }
}
