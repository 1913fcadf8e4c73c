import ArgumentParser

struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Watch the host at a terminal, and act.",
    discussion: """
      Four tables: the tasks with their last results and next starts, the runs with
      their progress, the requests, and the problems. They follow the host as it
      works. A row can be cancelled, tried again, postponed, discarded or run now;
      each asks first. The key ? lists all keys.

      EXAMPLES
        taskhost top
      """)

  @OptionGroup var host: HostOptions

  func validate() throws {
    guard !host.json else { throw ValidationError("--json: top draws a screen. For data, use taskhost status --json.") }
  }

  func run() async throws {
    let terminal: RawTerminal
    do throws(RawTerminal.Failure) { terminal = try RawTerminal() } catch {
      throw CommandFailure(.usage, "top", error.reason, remedy: "use taskhost status and taskhost tasks list")
    }
    try await TopSession(client: host.client(), terminal: terminal).run()
  }
}
