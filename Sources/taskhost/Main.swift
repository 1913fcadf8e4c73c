import Glibc
import HostControl
import HostThreads
import NIOCore
import NIOPosix
import PluginCheck
import Synchronization
import TaskHost

/// The entry point of the process.
///
/// The host's tasks run on NIO's threads instead of Dispatch's, because an idle host must sleep, and a Dispatch worker wakes every second
/// to manage its pool. For the same reason the main thread waits here and serves no main queue.
@main
enum Main {
  /// The control socket, if the service manager has made it.
  static let passedSocket = Mutex<Int32?>(nil)

  static func main() {
    // A case of `plugins check`: the process belongs to the plugin, and its main thread serves the plugin's main queue.
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == CaseProcess.argument { CaseProcess.main() }
    if let problem = ArgumentEncoding.problem {
      Terminal.note("taskhost: \(problem)")
      exit(ExitStatus.usage.rawValue)
    }
    if arguments.first == "run" {
      do throws(PassedSockets.Flaw) {
        let passed = try PassedSockets.take()
        passedSocket.withLock { $0 = passed }
      } catch {
        Terminal.note("taskhost: the service manager has passed what is not used: \(error)")
        exit(HostFailure.ExitCode.configuration.rawValue)
      }
      HostSignals.prepare()
      // Check this before anything starts: if they cannot start a thread, the host's libraries end the process or wait forever.
      if let obstacle = ProcessLimits.obstacle {
        Terminal.note("taskhost: \(obstacle)")
        exit(HostFailure.ExitCode.temporary.rawValue)
      }
      NIOSingletons.groupLoopCountSuggestion = 2
      NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
    }
    if arguments.first == "hold" || arguments.starts(with: ["plugins", "debug"]) { HeldSignals.shared.heed() }
    let ended = Awaited<Int32>()
    Task.detached { ended.set(await TaskHostCommand.status(of: arguments)) }
    let status = ended.wait()
    guard let trouble = Terminal.outputTrouble.withLock({ $0 }) else { exit(status) }
    Terminal.note("taskhost: the answer could not be written: \(trouble)")
    exit(status == ExitStatus.done.rawValue ? ExitStatus.failed.rawValue : status)
  }
}
