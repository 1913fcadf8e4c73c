import CWorkerDenials
import CWorkerSandbox
import Glibc
import TaskModel
import WorkerSandbox

/// Confines itself, loads a library as a plugin is loaded, and has it try one action after the other.
///
/// A line of output for each thing: `missing …`, `ignored …`, `applied NANOSECONDS`, `denied: …`, and `= ERRNO` for each action.
@main struct SandboxProbe {
  static func main() {
    let options = Options(Array(CommandLine.arguments.dropFirst()))
    taskhost_denials_prepare()
    WorkerSandbox.observeDenials(say)

    let start = now()
    if options.filterOnly {
      var filter = taskhost_sandbox_filter(
        network: TASKHOST_SANDBOX_NO_NETWORK, landlock_abi: Int32(options.landlockLimit ?? 7), execution: options.confinement.exec)
      guard taskhost_sandbox_filter(&filter) == 0 else { fail("no filter") }
    } else {
      do {
        let report = try WorkerSandbox.apply(options.confinement, landlockLimit: options.landlockLimit)
        let taken = now() - start
        for sentence in report.missing { say("missing \(sentence)") }
        for sentence in report.ignored { say("ignored \(sentence)") }
        say("applied \(taken)")
      } catch {
        fail("refused \(error)")
      }
    }
    guard let library = dlopen(options.confinement.plugin, RTLD_NOW), let symbol = dlsym(library, "probe_action") else {
      fail(dlerror().map { String(cString: $0) } ?? "no library")
    }
    typealias Action = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    let action = unsafeBitCast(symbol, to: Action.self)
    for (name, argument) in options.actions { say("= \(action(name, argument))") }
  }

  /// Nanoseconds.
  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}

/// Writes a line at once.
@Sendable func say(_ line: String) {
  let text = line + "\n"
  _ = text.utf8.withContiguousStorageIfAvailable { write(1, $0.baseAddress, $0.count) }
}

/// Says why and ends.
func fail(_ reason: String) -> Never {
  say(reason)
  exit(3)
}
