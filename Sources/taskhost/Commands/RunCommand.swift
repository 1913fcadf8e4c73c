import ArgumentParser

/// `taskhost run`
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run the host in the foreground.",
    discussion: """
      Loads the plugins, runs what is due, and answers on the control socket until
      SIGTERM, SIGINT or taskhost shutdown. Beside the usual exit codes: 75 a
      permitted plugin crashed at launch, 78 the configuration, the state directory
      or the plugins make the launch impossible.

      EXAMPLES
        taskhost run
        taskhost run --config taskhost.toml
        taskhost run --plugins ./plugins --state ./state --socket ./taskhost.sock
      """)

  @Option(help: ArgumentHelp("The configuration; else ./taskhost.toml, else the defaults.", valueName: "file"))
  var config: String?
  @Option(help: ArgumentHelp("A directory with plugins, instead of the configuration's; may be repeated.", valueName: "dir"))
  var plugins: [String] = []
  @Option(help: ArgumentHelp("The directory for the database, instead of the configuration's.", valueName: "dir"))
  var state: String?
  @Flag(help: "Launch although a permitted identifier has no plugin.")
  var allowMissing = false
  @Flag(help: "Launch although the store lacks records that it once had; say it once, after having looked for a copy.")
  var acceptStoreLoss = false
  @Option(help: ArgumentHelp("The control socket, instead of the configuration's.", valueName: "path"))
  var socket: String?

  /// What was asked.
  var options: RunOptions {
    RunOptions(
      configuration: config, pluginDirectories: plugins, stateDirectory: state, allowMissing: allowMissing,
      acceptStoreLoss: acceptStoreLoss,
      socket: socket)
  }

  func run() async throws {
    let status = try await runHost(options)
    if status != 0 { throw ExitCode(status) }
  }
}
