import CCrashCell
import CTaskHostSystem
import CWorkerDenials
import Glibc
import HostThreads
import TaskModel
import WorkerLink
import WorkerSandbox

/// A worker process: confines itself, loads one plugin, and runs its handlers on the host's orders. It ends with the host.
///
/// Only the host starts it, with the link at descriptor 3, the crash cell at 4, and the entitled paths from 5 on. The first thread does all
/// work that must precede other threads, loads and launches the plugin, and then serves the plugin's main queue and main run loop, if any.
@main
struct Worker {
  private static let linkDescriptor: Int32 = 3
  private static let cellDescriptor: Int32 = 4

  static func main() {
    // From now on, the end of the host's thread ends this process. Comparing the parent detects an earlier end.
    guard taskhost_process_die_with_parent() == 0 else { give(up: "it cannot be made to end with its host") }
    // Later descriptors are opened close-on-exec: programs that the plugin starts inherit only its standard streams.
    guard taskhost_process_close_on_exec(linkDescriptor) == 0 else { give(up: "its descriptors cannot be kept from other programs") }
    let socket = LinkSocket(descriptor: linkDescriptor)
    let boot = receiveBoot(socket)
    guard getppid() == boot.host else { leave(0) }
    watchCrashes()
    // As in a host: writing to a closed connection fails the call instead of ending the process.
    signal(SIGPIPE, SIG_IGN)
    taskhost_system_buffer_output_by_line()
    if boot.confinement.exec, taskhost_process_guard_group() != 0 { give(up: "the process that guards its group cannot be started") }
    let host = HostLink(socket)
    // The timer of the host's lease, not set yet: plugins that run as the same user could leave none to those that come later.
    guard taskhost_system_kill_at(0) == 0 else { give(up: "no timer can end it with its host's lease: \(ErrorNumber.last)") }
    confine(boot, host)
    let session = WorkerSession(boot, host)
    session.launch()
    session.serveMainThread()
  }

  private static func receiveBoot(_ socket: LinkSocket) -> WorkerBoot {
    do throws(LinkError) {
      guard case .boot(let boot) = try HostMessage(decoding: try socket.receive()) else {
        give(up: "the host's first message is not its boot message")
      }
      guard boot.version == LinkFormat.version else {
        give(up: "the host speaks version \(boot.version) of the link, this worker \(LinkFormat.version): install both from one release")
      }
      return boot
    } catch { give(up: "descriptor \(linkDescriptor) is not a link to a host (\(error)): only taskhost can start a worker") }
  }

  private static func watchCrashes() {
    let size = MemoryLayout<taskhost_crash_cell>.size
    guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, cellDescriptor, 0), memory != MAP_FAILED else {
      give(up: "descriptor \(cellDescriptor) is not a crash cell: only taskhost can start a worker")
    }
    close(cellDescriptor)
    taskhost_crash_watch(memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1), 0)
  }

  private static func confine(_ boot: WorkerBoot, _ host: HostLink) {
    taskhost_denials_prepare()
    do throws(SandboxFailure) {
      let report = try WorkerSandbox.apply(boot.confinement, landlockLimit: boot.landlockLimit)
      host.send(.confined(missing: report.missing + report.ignored))
    } catch {
      host.send(.refused(LaunchFailure(step: .load, observed: "its worker could not be confined: \(error)")))
      give(up: "it could not be confined: \(error)")
    }
  }

  /// Ends the process, with a sentence for the host's log.
  static func give(up reason: String) -> Never {
    let text = "taskhost-worker: \(reason)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    leave(70)
  }

  /// Ends the process immediately; not recorded as a crash.
  static func leave(_ status: Int32) -> Never {
    taskhost_system_flush_output()
    taskhost_crash_leaving()
    _exit(status)
  }
}
