import Glibc
import HostThreads
import NIOCore
import NIOPosix
import PluginCheck
import TaskHost

/// Where the process begins.
///
/// The host's tasks run on NIO's threads instead of Dispatch's: a Dispatch worker, once there, wakes every second to look after its pool,
/// and an idle host sleeps. For the same reason the main thread waits here and serves no main queue.
@main
enum Main {
  static func main() {
    // A case of `plugins check`: the process is the plugin's alone, its main thread serves the plugin's main queue.
    if CommandLine.arguments.dropFirst().first == CaseProcess.argument { CaseProcess.main() }
    if CommandLine.arguments.dropFirst().first == "run" {
      FatalSignals.endTheProcess()
      IdleSignals.ignore()
      // Before anything is started: the libraries that a host stands on end the process, or wait for ever, where they get no thread.
      if let obstacle = ProcessLimits.obstacle {
        Terminal.note("taskhost: \(obstacle)")
        exit(HostFailure.ExitCode.temporary.rawValue)
      }
      NIOSingletons.groupLoopCountSuggestion = 2
      NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let ended = Ended()
    Task.detached { ended.set(await TaskHostCommand.status(of: arguments)) }
    exit(ended.wait())
  }

  /// The exit code, once it is known.
  private final class Ended: @unchecked Sendable {  // reason: touched with `monitor` held
    private let monitor = Monitor()
    private var status: Int32?

    func set(_ value: Int32) {
      monitor.locked {
        status = value
        monitor.signal()
      }
    }

    func wait() -> Int32 {
      monitor.locked {
        while true {
          if let status { return status }
          monitor.wait()
        }
      }
    }
  }
}
