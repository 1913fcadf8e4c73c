import ArgumentParser
import Glibc

/// Which host a command talks to.
struct SocketOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The host's control socket; else TASKHOST_SOCKET, the configuration, state/control.sock.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("The configuration that names the socket; else ./taskhost.toml.", valueName: "file"))
  var config: String?

  /// A client for that host. Nothing is connected yet.
  func client() -> ControlClient {
    let environment = getenv("TASKHOST_SOCKET").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    return ControlClient(socket: socket ?? environment ?? socketFromConfiguration(config) ?? "state/control.sock")
  }
}
