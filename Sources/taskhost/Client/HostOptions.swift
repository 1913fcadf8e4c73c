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

  @Option(
    help: ArgumentHelp(
      "A host on TCP, https://HOST:PORT, instead of the socket; its token is in TASKHOST_TOKEN. (default: TASKHOST_URL)",
      valueName: "url"))
  var url: String?

  @Option(
    help: ArgumentHelp(
      "Certificates in PEM for --url, one of which the host's must come from. (default: TASKHOST_CA_FILE, or the system's)",
      valueName: "file"))
  var caFile: String?

  @Option(help: ArgumentHelp("The configuration that names the socket. (default: ./taskhost.toml)", valueName: "file"))
  var config: String?

  @Flag(help: "Read and show times in UTC rather than in this machine's time zone.")
  var utc = false

  /// As `date -u` does: the time zone of this process is UTC from now on.
  func validate() throws {
    guard socket == nil || url == nil else { throw ValidationError("--socket and --url exclude each other: name one host.") }
    guard utc else { return }
    setenv("TZ", "UTC0", 1)
    tzset()
  }

  /// A client for that host, not yet connected.
  ///
  /// - Parameter names: How refusals name what the command gave.
  func client(_ names: OptionNames = .submit) throws -> ControlClient {
    do { return ControlClient(try address(), names: names) } catch { throw CommandFailure(error, names) }
  }

  private func address() throws(TaskHostError) -> ControlAddress {
    if let socket { return .socket(socket) }
    if let url { return try Self.remote(url, caFile) }
    if let socket = Self.variable("TASKHOST_SOCKET") { return .socket(socket) }
    if let url = Self.variable("TASKHOST_URL") { return try Self.remote(url, caFile) }
    return .socket(socketFromConfiguration(config))
  }

  /// A host on TCP, with the token of the environment.
  static func remote(_ url: String, _ caFile: String?) throws(TaskHostError) -> ControlAddress {
    let authority = caFile ?? (url.hasPrefix("https:") ? variable("TASKHOST_CA_FILE") : nil)
    return .remote(try RemoteHost(url: url, token: variable("TASKHOST_TOKEN"), certificateAuthority: authority))
  }

  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Asks the host and prints its answer: unchanged with `--json`, otherwise with `show`.
  func ask(_ path: String, method: String = "GET", body: [UInt8]? = nil, _ show: (Answer) throws -> Void) async throws {
    let answer = try await client().send(method, path, body)
    if json { Terminal.print(answer.bytes) } else { try show(answer) }
  }
}
