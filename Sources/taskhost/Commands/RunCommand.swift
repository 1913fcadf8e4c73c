import ArgumentParser

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run the host in the foreground.",
    discussion: """
      Loads the plugins, runs due requests, and answers on the control socket until
      SIGTERM, SIGINT or taskhost shutdown. Besides the usual exit codes, it exits 75
      if a permitted plugin crashed at launch, and 78 if the configuration, the state
      directory or the plugins make the launch impossible.

      EXAMPLES
        taskhost run
        taskhost run --config taskhost.toml
        taskhost run --plugins ./plugins --state ./state --socket ./taskhost.sock
      """)

  @Option(help: ArgumentHelp("The configuration. (default: ./taskhost.toml if it exists, otherwise built in)", valueName: "file"))
  var config: String?
  @Option(help: ArgumentHelp("A directory with plugins, instead of the configuration's; may be repeated.", valueName: "dir"))
  var plugins: [String] = []
  @Option(help: ArgumentHelp("The state directory, instead of the configuration's.", valueName: "dir"))
  var state: String?
  @Flag(help: "Launch even if a permitted identifier has no plugin.")
  var allowMissing = false
  @Flag(help: "Launch even if the store lacks records that it once had. Look for a backup first; use this only once.")
  var acceptStoreLoss = false
  @Option(help: ArgumentHelp("The control socket, instead of the configuration's.", valueName: "path"))
  var socket: String?

  func run() async throws {
    let status = try await runHost(self)
    if status != 0 { throw ExitCode(status) }
  }
}
