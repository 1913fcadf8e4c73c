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
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == CaseProcess.argument { CaseProcess.main() }
    if arguments.first == "run" {
      HostSignals.prepare()
      // Checked before anything is started: without a thread, the libraries that a host uses end the process or wait forever.
      if let obstacle = ProcessLimits.obstacle {
        Terminal.note("taskhost: \(obstacle)")
        exit(HostFailure.ExitCode.temporary.rawValue)
      }
      NIOSingletons.groupLoopCountSuggestion = 2
      NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
    }
    let ended = Awaited<Int32>()
    Task.detached { ended.set(await TaskHostCommand.status(of: arguments)) }
    exit(ended.wait())
  }
}
