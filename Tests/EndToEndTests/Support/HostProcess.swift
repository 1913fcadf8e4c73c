import TestSupport
import Foundation
import Glibc
import Synchronization

/// A real `taskhost run` over a directory of its own, and its command line.
final class HostProcess: Sendable {
  let directory: TestDirectory
  let log = Mutex(HostLog())
  private let program = Mutex<Program?>(nil)
  private let environment: [String: String]
  /// Where the plugins' code runs.
  let isolation: Isolation
  private let tables = Mutex(PluginTables())

  /// Where plugins are.
  var plugins: String { directory("plugins") }
  var socket: String { directory("state/control.sock") }

  private init(_ isolation: Isolation, environment: [String: String]) throws {
    directory = try TestDirectory()
    self.isolation = isolation
    self.environment = environment
    try directory.folder("plugins")
    try directory.folder("shared")
  }

  /// Gives `body` a host that is not started yet; whatever happens, no process and no file is left.
  static func prepare<Value: Sendable>(
    isolation: Isolation = .process, environment: [String: String] = [:], _ body: (HostProcess) async throws -> Value
  ) async throws -> Value {
    try await HostSlots.shared.withSlot {
      let host = try HostProcess(isolation, environment: environment)
      do {
        let value = try await body(host)
        await host.kill()
        return value
      } catch {
        await host.kill()
        throw error
      }
    }
  }

  /// Gives `body` a host that has launched with the plugin `script.c` beside whatever `setUp` puts there.
  static func run<Value: Sendable>(
    _ configuration: String = "", isolation: Isolation = .process, script: [String] = [],
    _ body: (HostProcess) async throws -> Value
  ) async throws -> Value {
    try await prepare(isolation: isolation) { host in
      try await host.add("script.so", "script", script)
      try host.configure(configuration)
      try await host.start()
      return try await body(host)
    }
  }

  // MARK: Setting up

  /// Writes `taskhost.toml`; the plugin directory is set, short backoffs too unless the text has its own, and for every fixture its
  /// isolation and the right to read and write in `shared`.
  ///
  /// - Parameter threads: Those that are in thread isolation whatever the others are in.
  func configure(_ text: String, threads: [String] = []) throws {
    try writeConfiguration { ($0.text, $0.threads) = (text, threads) }
  }

  private func writeConfiguration(_ change: (inout PluginTables) -> Void) throws {
    let text = tables.withLock { tables in
      change(&tables)
      return tables.configuration(isolation, shared: directory("shared"))
    }
    guard let text else { return }
    // At once, so that no reload reads half of it.
    let new = try directory.file("taskhost.toml.new", text)
    guard rename(new, directory("taskhost.toml")) == 0 else { throw TestFailure("rename \(new): errno \(errno)") }
  }

  /// Puts a fixture into the plugin directory.
  func add(_ name: String, _ source: String, _ arguments: [String] = [], isCached: Bool = true) async throws {
    let bytes = try await Fixtures.shared.bytes(of: source, arguments, isCached: isCached)
    try directory.file("plugins/" + name, bytes)
    try writeConfiguration { $0.add(source, arguments) }
  }

  /// Puts `faulty_launch.c` without a fault there: the well-behaved twin.
  func addTwin(_ name: String = "twin.so", identifier: String = "test.twin") async throws {
    try await add(name, "faulty_launch", ["-DIDENTIFIER=\"\(identifier)\""])
  }

  // MARK: The process

  /// Starts the host and waits until it has launched and answers.
  ///
  /// - Parameter namesFile: Whether the host is told its file, and does not find it in its working directory.
  func start(_ arguments: [String] = [], namesFile: Bool = true) async throws {
    try spawn(arguments, namesFile: namesFile)
    try await current.line(with: "control socket open")
    try await current.line(with: "launched:")
  }

  /// Starts the host and does not wait.
  ///
  /// - Parameter wrapper: A command that executes the rest of its arguments, in the same process.
  func spawn(_ arguments: [String] = [], through wrapper: [String] = [], namesFile: Bool = true) throws {
    let log = HostLog()
    self.log.withLock { $0 = log }
    let command = wrapper + [try BuiltProgram.taskhost, "run"] + (namesFile ? ["--config", directory("taskhost.toml")] : []) + arguments
    let started = try Program(
      command[0], Array(command.dropFirst()), environment: environment, directory: directory.path, onErrorLine: { log.add($0) })
    program.withLock { $0 = started }
    Task {
      _ = try? await started.result(within: .seconds(600))
      log.end()
    }
  }

  /// Starts a host that is to fail, and waits for its end.
  func failure(_ arguments: [String] = []) async throws -> Program.Result {
    try await Program.run(
      try BuiltProgram.taskhost, ["run", "--config", directory("taskhost.toml")] + arguments, environment: environment,
      directory: directory.path)
  }

  /// The log of the present process.
  var current: HostLog { log.withLock { $0 } }

  /// The port of `control.listen`, from the log.
  func remotePort() async throws -> Int {
    let line = try await current.line(with: "control open over TCP")
    let digits = line.firstRange(of: "\"port\":\"").map { line[$0.upperBound...].prefix { $0.isNumber } }
    guard let port = digits.flatMap({ Int($0) }) else { throw TestFailure("no port: \(line)") }
    return port
  }

  var processID: pid_t { program.withLock { $0?.processID ?? -1 } }
  var isRunning: Bool { program.withLock { $0?.isRunning ?? false } }

  func signal(_ number: Int32) { program.withLock { $0 }?.send(number) }

  /// Waits for the process's end.
  func end(within limit: Duration = .seconds(30)) async throws -> Program.Result {
    guard let program = program.withLock({ $0 }) else { throw TestFailure("the host was never started") }
    return try await program.result(within: limit)
  }

  /// SIGKILL, and waits.
  func kill() async {
    signal(SIGKILL)
    _ = try? await program.withLock { $0 }?.result()
  }

  /// SIGTERM, and waits.
  @discardableResult
  func terminate() async throws -> Program.Result {
    signal(SIGTERM)
    return try await end()
  }

  // MARK: The command line

  /// Runs `taskhost ARGUMENTS --socket …`.
  func cli(_ arguments: String..., input: Data = Data()) async throws -> Program.Result { try await cli(arguments, input: input) }

  func cli(_ arguments: [String], input: Data = Data()) async throws -> Program.Result {
    try await Program.run(
      try BuiltProgram.taskhost, arguments, input: input, environment: ["TASKHOST_SOCKET": socket], directory: directory.path)
  }

  /// Starts a command and does not wait for it.
  func startCLI(_ arguments: String...) throws -> Program {
    try Program(try BuiltProgram.taskhost, arguments, environment: ["TASKHOST_SOCKET": socket], directory: directory.path)
  }

  /// Runs a command with `--json` that is to succeed.
  func json(_ arguments: String...) async throws -> JSON { try await json(arguments) }

  func json(_ arguments: [String]) async throws -> JSON {
    let result = try await cli(arguments + ["--json"])
    // With an answer, 1 says that something needs a person.
    guard result.status == 0 || (arguments.first == "status" && result.status == 1) else {
      throw TestFailure("taskhost \(arguments): exit \(result.status): \(result.errors)")
    }
    return try result.json()
  }

  /// Submits a script and waits for its end, whatever it is.
  ///
  /// - Returns: The answer of `submit --wait --json`: `submission`, `outcome`, `run`.
  func run(_ script: String, _ arguments: [String] = [], identifier: String = "test.script") async throws -> JSON {
    let result = try await cli(["submit", identifier, "--payload", "\"\(script)\"", "--wait", "--json"] + arguments)
    guard [0, 1, 4].contains(result.status) else { throw TestFailure("submit \(script): exit \(result.status): \(result.errors)") }
    return try result.json()
  }

  /// Submits a script.
  ///
  /// - Returns: The request's id.
  func submit(_ script: String, _ arguments: [String] = [], identifier: String = "test.script") async throws -> String {
    let result = try await cli(["submit", identifier, "--payload", "\"\(script)\"", "--json"] + arguments)
    guard result.status == 0, let id = try result.json()["id"]?.string else {
      throw TestFailure("submit \(script): exit \(result.status): \(result.errors)")
    }
    return id
  }

  /// Waits until the request's record is as `condition` wants it.
  @discardableResult
  func request(_ id: String, within limit: Duration = .seconds(30), until condition: @escaping @Sendable (JSON) -> Bool) async throws
    -> JSON
  {
    let socket = socket
    return try await onThread {
      let events = try SocketClient(socket, limit: limit)
      try events.send("GET /v1/stream?request=\(id) HTTP/1.1\r\nhost: x\r\n\r\n")
      _ = try events.read(until: ": subscribed\n\n")
      let client = try SocketClient(socket, limit: limit)
      let record = try client.request("GET", "/v1/requests/\(id)").json()
      if condition(record) { return record }
      do {
        while true {
          _ = try events.read(until: "event: request\ndata: ")
          let record = try JSON(parsing: try events.read(until: "\n\n"))
          if condition(record) { return record }
        }
      } catch {
        let now = try? SocketClient(socket, limit: limit).request("GET", "/v1/requests/\(id)").body
        throw TestFailure(
          "request \(id): no event told the state that was waited for: \(error)\nbefore: \(record)\nnow: \(now ?? "no answer")")
      }
    }
  }

  /// Waits until the request is in `state`.
  @discardableResult
  func request(_ id: String, is state: String, within limit: Duration = .seconds(30)) async throws -> JSON {
    try await request(id, within: limit) { $0["state"]?.string == state }
  }

  /// The runs of a request, newest first.
  func runs(of request: String) async throws -> [JSON] { try await json("runs", "list", "--request", request)["runs"]?.array ?? [] }

  /// Waits until a request has had so many runs, the live one included.
  func runs(of request: String, reach count: Int, within limit: Duration = .seconds(30)) async throws {
    let socket = socket
    try await onThread {
      let events = try SocketClient(socket, limit: limit)
      try events.send("GET /v1/stream?request=\(request) HTTP/1.1\r\nhost: x\r\n\r\n")
      _ = try events.read(until: ": subscribed\n\n")
      let client = try SocketClient(socket, limit: limit)
      // The event of a run comes once the list has it.
      while try client.request("GET", "/v1/runs?request=\(request)").json()["runs"]?.array.count ?? 0 < count {
        _ = try events.read(until: "event: run\n")
      }
    }
  }

  /// The output of a request's newest run.
  func lastOutput(of request: String) async throws -> JSON? {
    guard let run = try await runs(of: request).first?["id"]?.string else { return nil }
    return try await json("runs", "show", run)["output"]
  }

  /// What `plugins list` says about the file `name`.
  func plugin(_ name: String) async throws -> JSON {
    let plugins = try await json("plugins", "list")["plugins"]?.array ?? []
    guard let plugin = plugins.first(where: { ($0["file"]?.string ?? "").hasSuffix("/" + name) }) else {
      throw TestFailure("plugins list has no \(name): \(plugins)")
    }
    return plugin
  }
}
