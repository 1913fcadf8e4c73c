import ArgumentParser
import Glibc
import StrictText
import TaskHostClient
import TaskModel

struct PluginsDebugCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "debug",
    abstract: "Attach a debugger to a plugin's worker, with budgets suspended.",
    discussion: """
      The host starts the worker if it has none. Until the debugger ends, no budget,
      stall limit or grace of the plugin's runs is over, and the worker stays.
      Afterwards each live run has its whole budget before it. taskhost status says
      who debugs what. If the worker ends first, as by a crash, you are asked whether
      to attach to its successor.

      The debugger must be allowed to trace the host's processes: become root, or the
      host's user where the kernel allows that (kernel.yama.ptrace_scope = 0).
      A plugin with isolation = "thread" has no worker.

      EXAMPLES
        taskhost plugins debug org.taskhost.cleanup
        taskhost plugins debug org.taskhost.cleanup --debugger lldb
        taskhost plugins debug org.taskhost.cleanup -- -batch -ex 'thread apply all bt'
      """)

  @Option(help: ArgumentHelp("The debugger: its name or path. It gets -p and the worker's process id.", valueName: "program"))
  var debugger = "gdb"
  @OptionGroup var host: HostOptions
  @Argument(help: "The plugin's identifier.")
  var identifier: String
  @Argument(parsing: .postTerminator, help: ArgumentHelp("Arguments for the debugger, after --.", valueName: "argument"))
  var arguments: [String] = []

  func run() async throws {
    let client = try host.client()
    var status: Int32 = 0
    var hasSuccessor = false
    repeat {
      let worker = try await worker(client)
      Terminal.note("taskhost: \(debugger) attaches to process \(worker); budgets of \(identifier) are suspended until it ends")
      let program: HeldProgram
      do throws(HeldProgram.Failure) { program = try HeldProgram([debugger, "-p", "\(worker)"] + arguments) } catch {
        let remedy = error.status == 127 ? "install it (apt install gdb), or name another with --debugger" : "name another with --debugger"
        throw CommandFailure(.failed, debugger, error.reason, remedy: remedy)
      }
      status = await program.end(warningAt: .distantFuture) {}.status
      hasSuccessor = kill(worker, 0) != 0 && errno == ESRCH && Self.wantsSuccessor()
    } while hasSuccessor
    guard status == 0 else { throw ExitCode(status) }
  }

  /// The process to attach to. The host watches this process, and suspends budgets as long as it lives.
  private func worker(_ client: ControlClient) async throws -> pid_t {
    struct Answer: Decodable { let workerProcessId: Int64 }
    let body = JSONWriter.object { $0.member("process_id", Int64(getpid())) }
    let answer: Answer = try await client.post("/v1/plugins/\(ControlClient.escape(identifier))/debug", body).read()
    return pid_t(clamping: answer.workerProcessId)
  }

  private static func wantsSuccessor() -> Bool {
    Terminal.canAsk && Terminal.agrees("The worker has ended. Attach to its successor? Write yes:")
  }
}
