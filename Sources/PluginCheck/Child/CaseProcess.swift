import CCrashCell
import CTaskHostSystem
import Glibc
import HostThreads
import PluginRuntime

/// A process that performs one case.
public enum CaseProcess {
  /// The only argument of a case process.
  public static let argument = "plugins-check-case"

  /// The descriptors of a case process: the order, the pipe for reports, the crash cell.
  static let orderDescriptor: Int32 = 3
  static let newsDescriptor: Int32 = 4
  static let cellDescriptor: Int32 = 5

  /// The main function of a case process. Its thread serves the plugin's main queue, if there is one, and never returns.
  public static func main() -> Never {
    guard taskhost_process_die_with_parent() == 0, watchCrashes(), let order = readOrder() else {
      give(up: "only `taskhost plugins check` starts this", status: 2)
    }
    _ = fcntl(newsDescriptor, F_SETFD, FD_CLOEXEC)
    // In a host, libraries do this.
    signal(SIGPIPE, SIG_IGN)
    let reporter = CaseReporter(descriptor: newsDescriptor)
    CallWatch.shared.begin(reporter)
    guard WatchedTable.install() else { give(up: "the table of the host could not be watched") }
    // The first thread waits here for a main queue to serve.
    let server = Awaited<MainQueueServer>()
    do { try HostThread.start("check") { play(order, reporter, server) } } catch { give(up: error.description) }
    server.wait().serve()
    while true { pause() }
  }

  private static func play(_ order: CaseOrder, _ reporter: CaseReporter, _ server: Awaited<MainQueueServer>) {
    do {
      let stage = try ConformanceRun(order, reporter) { server.set($0) }
      do throws(ConformanceRun.End) {
        let seen = try stage.play()
        reporter.tell(.done(seen))
      } catch {
        if case .skipped(let why) = error { reporter.tell(.skipped(why)) } else { reporter.tell(.done("")) }
      }
    } catch { give(up: error.description) }
    leave()
  }

  /// Ends the process immediately, after everything has been reported.
  static func leave() -> Never {
    taskhost_crash_leaving()
    _exit(0)
  }

  /// Ends the process when it cannot report any more.
  static func give(up reason: String, status: Int32 = 70) -> Never {
    let text = "taskhost: \(argument): \(reason)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    taskhost_crash_leaving()
    _exit(status)
  }

  private static func watchCrashes() -> Bool {
    let size = MemoryLayout<taskhost_crash_cell>.size
    guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, cellDescriptor, 0), memory != MAP_FAILED else { return false }
    close(cellDescriptor)
    taskhost_crash_watch(memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1), 1)
    return true
  }

  private static func readOrder() -> CaseOrder? {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = part.withUnsafeMutableBytes { read(orderDescriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    close(orderDescriptor)
    return CaseOrder(decoding: bytes)
  }
}
