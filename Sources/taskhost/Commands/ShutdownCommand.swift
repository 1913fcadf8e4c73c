import ArgumentParser

struct ShutdownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shutdown",
    abstract: "Ask the host to finish its runs and exit.",
    discussion: """
      EXAMPLES
        taskhost shutdown
        taskhost shutdown --wait
      """)

  @Flag(help: "Return once the host has ended.")
  var wait = false
  @OptionGroup var host: HostOptions

  func run() async throws {
    let client = host.client()
    let events = wait ? try await client.subscribe() : nil
    let answer = try await client.post("/v1/shutdown")
    Terminal.print(host.json ? answer.bytes : Array("draining".utf8))
    guard let events else { return }
    // A broken connection also means that the host has ended.
    do { for try await _ in events {} } catch {}
  }
}
