import ArgumentParser
import TaskHostClient

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
    let client = try host.client()
    let events = wait ? try await client.subscribe() : nil
    let end = wait ? try await client.hostEnd() : nil
    let answer = try await client.post("/v1/shutdown")
    Terminal.print(host.json ? answer.bytes : Array("draining".utf8))
    guard let events else { return }
    // The connection breaks when the host closes its socket. After that, it closes its store and gives up its lock.
    do { for try await _ in events {} } catch {}
    if let end { try await client.wait(for: end) }
  }
}
