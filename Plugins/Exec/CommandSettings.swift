internal import StrictText
internal import TaskHostSDK

/// One `[command."ID"]` table of the host's configuration, as the host passes it to the plugin.
struct CommandSettings: Sendable {
  /// The identifier that is registered for the command.
  var identifier = ""
  /// The program and its arguments; never empty.
  var run: [String] = []
  /// Where it starts. Nil means the home directory of its user.
  var directory: String?
  /// Variables with their values, which win over the others.
  var environment: [(name: String, value: String)] = []
  /// Names of the host's variables that it gets.
  var passed: [String] = []
  /// The user it runs as. Nil means the user of the host.
  var user: String?
  var exitCodes = ExitCodes()
  /// Whether standard output is the run's output, rather than lines of its log.
  var keepsOutput = false
  /// Whether one process serves many runs, by lines of JSON.
  var isPersistent = false
  /// How long a persistent process without a run is kept.
  var idleTime: Duration = .seconds(60)
  /// Limits on its address space in bytes and on its descriptors. Nil means the limit of the host.
  var memory: Int?
  var descriptors: Int?
  /// Whether the worker's sandbox is around it: its folders are those of the worker then, and not those of the user.
  var isSandboxed = false
  /// Whether the payload is a notification, which the environment describes too.
  var isNotice = false
  /// The host's control socket, for `taskhost` in the command; nil if it could not reach it.
  var socket: String?

  private static let keys = [
    "identifier", "run", "directory", "environment", "pass", "user", "exit_codes", "stdout", "persistent", "idle_time_ms", "memory",
    "descriptors", "sandboxed", "socket", "notice",
  ]

  /// - Throws: All problems.
  init(json: String) throws(SettingsProblems) {
    let value: JSONValue
    do { value = try JSON.decode(JSONValue.self, from: Array(json.utf8)) } catch { throw SettingsProblems(["\(error)"]) }
    var table = SettingsTable(value, at: "", known: Self.keys)
    identifier = table.requiredText("identifier") ?? ""
    run = table.strings("run")
    if run.isEmpty { table.report("run", "is missing") }
    directory = table.text("directory")
    if case .object(let variables)? = table.value("environment") {
      for (name, value) in variables.sorted(by: { $0.key < $1.key }) {
        guard case .string(let text) = value else {
          table.report("environment.\(name)", "must be a string, not \(value.kindName)")
          continue
        }
        environment.append((name, text))
      }
    }
    passed = table.strings("pass")
    user = table.text("user")
    for (code, name) in table.texts("exit_codes") {
      guard exitCodes.set(code, to: name) else {
        table.report("exit_codes.\(code)", "must map 0 to 255, or \"other\", to one of \(ExitCodes.names.joined(separator: ", "))")
        continue
      }
    }
    switch table.text("stdout") {
    case nil, "log": break
    case "output": keepsOutput = true
    case let other?: table.report("stdout", "must be log or output, not \(other)")
    }
    isPersistent = table.flag("persistent") ?? false
    if let time = table.integer("idle_time_ms", in: 0...86_400_000) { idleTime = .milliseconds(time) }
    memory = table.integer("memory", in: 1...(1 << 50))
    descriptors = table.integer("descriptors", in: 1...(1 << 20))
    isSandboxed = table.flag("sandboxed") ?? false
    isNotice = table.flag("notice") ?? false
    socket = table.text("socket")
    for text in run + [directory, user, socket].compactMap({ $0 }) + environment.flatMap({ [$0.name, $0.value] })
    where text.utf8.contains(0) {
      table.report(nil, "a text has a zero byte in it")
      break
    }
    if !table.problems.isEmpty { throw SettingsProblems(table.problems) }
  }
}
