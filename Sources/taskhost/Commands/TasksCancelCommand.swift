import HostControl
import ArgumentParser

/// `taskhost tasks cancel`
struct TasksCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancel requests.",
    discussion: """
      A request that runs is asked to stop; it is cancelled when its run has ended.
      All ids are tried; the exit code is that of the first that was refused.

      EXAMPLES
        taskhost tasks cancel 01976c1e-0000-7000-8000-000000000000
      """)

  @Argument(help: "The requests' ids.")
  var ids: [String]
  @Flag(help: "Print the host's answers as JSON, one a line.")
  var json = false
  @OptionGroup var socketOptions: SocketOptions

  func validate() throws {
    guard !ids.isEmpty else { throw ValidationError("Name the requests to cancel.") }
  }

  func run() async throws {
    let client = socketOptions.client()
    var first: CommandFailure?
    for id in ids {
      do {
        let answer = try await client.send("DELETE", "/v1/requests/\(ControlClient.escape(id))")
        if json { Terminal.print(answer.bytes) } else { Terminal.print("\(id) \(Self.describe(answer))") }
      } catch let failure as CommandFailure where failure.status == .refused {
        if ids.count > 1 { Terminal.note(failure.description) }
        first = first ?? failure
      }
    }
    guard let first else { return }
    if ids.count > 1 { throw ExitCode(first.status.rawValue) }
    throw first
  }

  private static func describe(_ answer: ControlClient.Answer) -> String {
    answer.node["state"]?.string == "running" ? "asked to stop" : answer.node["state"]?.string ?? ""
  }
}
