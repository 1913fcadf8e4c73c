import ArgumentParser
import Glibc

/// Which host a command asks, and how it prints the answer.
struct HostOptions: ParsableArguments {
  @Flag(help: "Print the host's answers as JSON, one a line.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "The host's control socket; otherwise TASKHOST_SOCKET, the configuration's, or state/control.sock.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("The configuration that names the socket; otherwise ./taskhost.toml.", valueName: "file"))
  var config: String?

  /// A client for that host. Nothing is connected yet.
  func client() -> ControlClient {
    let environment = getenv("TASKHOST_SOCKET").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    return ControlClient(socket: socket ?? environment ?? socketFromConfiguration(config) ?? "state/control.sock")
  }

  /// Asks the host and prints its answer: as it came with `--json`, otherwise as `show` prints it.
  func ask(_ path: String, method: String = "GET", body: [UInt8]? = nil, _ show: (Answer) throws -> Void) async throws {
    let answer = try await client().send(method, path, body)
    if json { Terminal.print(answer.bytes) } else { try show(answer) }
  }
}
