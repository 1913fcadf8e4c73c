import ArgumentParser

/// `taskhost shutdown`
struct ShutdownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shutdown",
    abstract: "Ask the host to end its runs and itself.",
    discussion: """
      EXAMPLES
        taskhost shutdown
        taskhost shutdown --wait
      """)

  @Flag(help: "Return when the host has ended.")
  var wait = false
  @Flag(help: "Print the host's answer as JSON.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func run() async throws {
    let client = socketOptions.client()
    let events = wait ? try await client.subscribe() : nil
    let answer = try await client.post("/v1/shutdown")
    if json { Terminal.print(answer.bytes) } else { Terminal.print("draining") }
    guard let events else { return }
    do {
      for try await _ in events {}
    } catch {
      // A connection that breaks is the host's end too.
    }
  }
}
