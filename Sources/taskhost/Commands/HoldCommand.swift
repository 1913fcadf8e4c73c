import ArgumentParser
import Glibc
import HostThreads
import StrictText
import TaskHostClient
import TaskModel

struct HoldCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hold",
    abstract: "Run a command that the host must not end in the middle of.",
    discussion: """
      Takes an execution assertion, runs the command, and gives the assertion back.
      Until then, a host that drains (SIGTERM, taskhost shutdown) waits before it
      ends. When the time of --for is over, the host no longer waits: a warning says
      so, and the command goes on. A host that drains already refuses the assertion.

      Exits with the command's exit code, or 128 and the number of the signal that
      ended it; 127 if the command is not found, 126 if it cannot be run. Without the
      assertion the command does not run: 5 if no host is running, 6 if it refused.

      EXAMPLES
        taskhost hold -- sync
        taskhost hold --for 5m --why 'writing the backup' -- tar -cf backup.tar plugins
      """)

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long the host waits at most: 90s, 5m; at most 10m. (default: 30s)", valueName: "duration"))
  var length: String?
  @Option(name: .customLong("why"), help: ArgumentHelp("The reason that taskhost status shows.", valueName: "text"))
  var reason: String?
  @Option(help: ArgumentHelp("Who holds the host, for taskhost status. (default: the command's name)", valueName: "text"))
  var name: String?
  @OptionGroup var host: HostOptions
  @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String] = []

  func validate() throws {
    guard !command.isEmpty else { throw ValidationError("There is no command: write it after --, as in taskhost hold -- sync.") }
  }

  func run() async throws {
    let client = try host.client(OptionNames(["name": "name", "reason": "why", "for_ms": "for"]))
    let answer = try await client.post("/v1/assertions", try body())
    let assertion: AssertionAnswer = try answer.read()
    let deadline = SystemClock.now + .milliseconds(assertion.remainingMs)
    if host.json { Terminal.print(answer.bytes) }
    let program: HeldProgram
    do throws(HeldProgram.Failure) { program = try HeldProgram(command) } catch {
      try? await giveBack(assertion, client)
      Terminal.note("taskhost: \(command[0]): \(error.reason)")
      throw ExitCode(error.status)
    }
    let (status, isLate) = await program.end(warningAt: deadline) {
      Terminal.note("taskhost: the assertion has expired: the host no longer waits for \(command[0])")
    }
    do { try await giveBack(assertion, client) } catch {
      // One that has expired has ended, perhaps with its host.
      if !isLate { Terminal.note("taskhost: the assertion ended before the command: \((error as? CommandFailure)?.why ?? "\(error)")") }
    }
    throw ExitCode(status)
  }

  private func giveBack(_ assertion: AssertionAnswer, _ client: ControlClient) async throws {
    _ = try await client.send("DELETE", "/v1/assertions/\(ControlClient.escape(assertion.id))")
  }

  /// The body of `POST /v1/assertions`. The host checks the texts and the length.
  func body() throws -> [UInt8] {
    try JSONWriter.object { writer in
      writer.member("name", name ?? command[0].split(separator: "/").last.map(String.init) ?? command[0])
      writer.member("reason", reason)
      writer.member("for_ms", try length.map { try TimeArgument.duration($0, "--for") })
      // If this process is killed, nobody gives the assertion back.
      writer.member("process_id", getpid())
    }
  }
}
