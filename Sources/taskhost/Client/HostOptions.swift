import ArgumentParser
import Glibc
import TaskHostClient

/// The options that select a host, and how to print its answers.
struct HostOptions: ParsableArguments {
  @Flag(help: "Print the host's answers as JSON, one per line.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "The host's control socket. (default: TASKHOST_SOCKET, the configuration's socket, or state/control.sock)", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("The configuration that names the socket. (default: ./taskhost.toml)", valueName: "file"))
  var config: String?

  @Flag(help: "Read and show times in UTC rather than in this machine's time zone.")
  var utc = false

  /// As `date -u` does: the time zone of this process is UTC from now on.
  func validate() throws {
    guard utc else { return }
    setenv("TZ", "UTC0", 1)
    tzset()
  }

  /// A client for that host, not yet connected.
  ///
  /// - Parameter names: How refusals name what the command gave.
  func client(_ names: OptionNames = .submit) -> ControlClient {
    let environment = getenv("TASKHOST_SOCKET").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    return ControlClient(socket: socket ?? environment ?? socketFromConfiguration(config) ?? "state/control.sock", names: names)
  }

  /// Asks the host and prints its answer: unchanged with `--json`, otherwise with `show`.
  func ask(_ path: String, method: String = "GET", body: [UInt8]? = nil, _ show: (Answer) throws -> Void) async throws {
    let answer = try await client().send(method, path, body)
    if json { Terminal.print(answer.bytes) } else { try show(answer) }
  }
}
