import ArgumentParser
import HostThreads
import StrictText
import TaskModel

/// `taskhost tasks snooze`
struct TasksSnoozeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Put a request off that waits for its run.",
    discussion: """
      It costs no attempt, and moves no later occurrence of a request that repeats.

      EXAMPLES
        taskhost tasks snooze "$(taskhost submit com.example.ci --after 1h)" --for 15m
      """)

  @Argument(help: "The request's id.")
  var id: String
  @Option(name: .customLong("for"), help: ArgumentHelp("How long from now: 90s, 15m, 1h30m.", valueName: "duration"))
  var length: String
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let body = try JSONWriter.object { $0.member(RequestField.delay, try TimeArgument.duration(length, "--for")) }
    let answer = try await socketOptions.client().post("/v1/requests/\(ControlClient.escape(id))/snooze", body)
    let request: RequestAnswer = try answer.read()
    Terminal.notes(request.notes ?? [])
    if json { return Terminal.print(answer.bytes) }
    Terminal.print("\(id) \(ScheduleText.when(request, now: SystemClock().wallTime.unixMilliseconds))")
  }
}
