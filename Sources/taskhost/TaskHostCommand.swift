import ArgumentParser
import Glibc
import TaskHostClient

struct TaskHostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "taskhost",
    abstract: "Run the background tasks of plugins when they are due and the machine allows it.",
    discussion: """
      EXAMPLES
        taskhost run --plugins ./plugins
        taskhost submit org.taskhost.cleanup --payload '{"dry_run": true}' --wait
        taskhost tasks list --state pending
        taskhost tasks why "$(taskhost submit com.example.report --after 1h)"
        taskhost forecast --hours 24

      EXIT CODES
        0 done, 1 the task failed, 2 usage, 4 cancelled,
        5 no host is running, 6 refused by the host, 78 a wrong configuration
      """,
    version: Version.text,
    subcommands: [
      RunCommand.self, SubmitCommand.self, TasksCommand.self, RunsCommand.self, PluginsCommand.self, TransfersCommand.self,
      TokenCommand.self, TokensCommand.self, AuditCommand.self, SimulateCommand.self,
      ConditionsCommand.self, NotifyCommand.self, ForecastCommand.self, StatusCommand.self, TopCommand.self, PauseCommand.self,
      ResumeCommand.self, HoldCommand.self, TakeoverCommand.self, ConfigCommand.self, DoctorCommand.self, StoreCommand.self,
      FleetCommand.self, ReloadCommand.self, ShutdownCommand.self,
    ])

  /// Runs the command in `arguments` and reports errors.
  ///
  /// - Returns: The process's exit code.
  static func status(of arguments: [String]) async -> Int32 {
    do {
      var command = try await asyncParseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return ExitStatus.done.rawValue
    } catch let failure as CommandFailure {
      return tell(failure)
    } catch let error as TaskHostError {
      return tell(CommandFailure(error))
    } catch let code as ExitCode {
      return code.rawValue
    } catch {
      let message = fullMessage(for: error)
      if exitCode(for: error).isSuccess {
        Terminal.print(message)
        return ExitStatus.done.rawValue
      }
      let isUsage = exitCode(for: error) == .validationFailure
      Terminal.note(message.hasPrefix("Error: ") ? "taskhost: " + message.dropFirst("Error: ".count) : message)
      return (isUsage ? ExitStatus.usage : .failed).rawValue
    }
  }

  private static func tell(_ failure: CommandFailure) -> Int32 {
    Terminal.progress("")
    Terminal.note(failure.description)
    return failure.status.rawValue
  }
}

enum Version {
  static let text = "0.1.0"
}
