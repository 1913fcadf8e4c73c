import ControlTestSupport
import Foundation
import HostControl
import HostThreads
import StrictText
import TaskModel
import TestSupport
import Testing

/// The built executable against a host over a real socket.
@Suite("Commands") struct CommandTests {
  private func run(
    _ host: MemoryHost, _ arguments: [String], input: String = "", environment: [String: String] = [:],
    _ check: @escaping @Sendable (Program.Result) throws -> Void
  ) async throws {
    try await ControlFixture.with(host) { fixture in
      let environment = environment.merging(["TASKHOST_SOCKET": fixture.socket]) { $1 }
      try check(try await TaskHostProcess.run(arguments, input: input, environment: environment))
    }
  }

  @Test("submit prints the id, and everything asked for arrives")
  func submit() async throws {
    let host = MemoryHost()
    let arguments = [
      "submit", "org.example.a", "--payload", "{ \"a\": 1}", "--at", "2026-11-21 08:00", "--every", "6h", "--requires", "network,power",
      "--key", "k", "--on-conflict", "keep", "--priority", "-3", "--tag", "x", "--tag", "y",
    ]
    try await run(host, arguments) { result in
      #expect(result.status == 0)
      #expect(result.errors == "")
      #expect(RequestID(result.output.trimmingCharacters(in: .newlines)) != nil)
    }
    let request = try #require(host.submitted.first)
    #expect(request.payload == Array("{ \"a\": 1}".utf8))
    #expect(request.earliestBegin == WallTime(unixMilliseconds: 1_795_248_000_000))
    #expect(request.repetition == RepeatRule(every: .seconds(6 * 3600)))
    #expect(request.conditions == [.network, .power])
    #expect(request.priority == -3)
    #expect(request.uniqueKey == "k")
    #expect(request.tags == ["x", "y"])
  }

  @Test("a payload may come from standard input, and need not be JSON there")
  func input() async throws {
    let host = MemoryHost()
    try await run(host, ["submit", "a", "--payload", "@-"], input: "not json") { #expect($0.status == 0) }
    #expect(host.submitted.first?.payload == Array("not json".utf8))
  }

  @Test("a payload that is too large is refused as the payload, whichever way it is sent", arguments: ["submit", "notify"])
  func largePayload(_ command: String) async throws {
    for input in [String(repeating: "x", count: 65_537), "\"" + String(repeating: "x", count: 65_535) + "\""] {
      try await run(MemoryHost(), [command, "a", "--payload", "@-"], input: input) { result in
        #expect(result.status == 6)
        #expect(result.errors.contains("payload: 65537 bytes, more than 65536: "), "\(result.errors)")
      }
    }
  }

  /// What happens to the request, its exit code, standard output.
  static let waits: [(RunOutcome, RequestState, Int32, String)] = [
    (.succeeded, .succeeded, 0, "the message\n{\"n\": 1}\n"), (.noop, .succeeded, 0, "the message\n{\"n\": 1}\n"),
    (.failed, .failed, 1, "the message\n{\"n\": 1}\n"), (.cancelled, .cancelled, 4, "the message\n{\"n\": 1}\n"),
  ]

  @Test("submit --wait follows a request that ends before its submission is answered, and exits as it ended", arguments: waits)
  func wait(_ outcome: RunOutcome, _ state: RequestState, _ status: Int32, _ output: String) async throws {
    let host = MemoryHost { host, id in
      let run = host.begin(id)
      host.log(run, "working")
      host.end(run, outcome, message: "the message", output: Array("{\"n\": 1}".utf8), then: state)
    }
    try await run(host, ["submit", "a", "--wait"]) { result in
      #expect(result.status == status)
      #expect(result.output == output)
      #expect(result.errors.contains("info: working\n"))
    }
  }

  @Test("submit --wait for a request that fails without a run says why it did not run")
  func waitNeverRan() async throws {
    let host = MemoryHost { host, id in host.change(id, to: .failed) { $0.lastMessage = "p, which must succeed first, has failed" } }
    try await run(host, ["submit", "a", "--wait"]) { result in
      #expect(result.status == 1)
      #expect(result.errors.contains("failed: it did not run: p, which must succeed first, has failed\n"))
    }
  }

  @Test("submit --wait tells of a retry and goes on")
  func waitRetry() async throws {
    let host = MemoryHost { host, id in
      host.end(host.begin(id), .retried, message: "no network", then: .pending, attemptsSpent: 1)
      host.end(host.begin(id, attempt: 2), .succeeded, then: .succeeded)
    }
    try await run(host, ["submit", "a", "--wait"]) { result in
      #expect(result.status == 0)
      #expect(result.errors.contains("retried: no network; again "))
    }
  }

  @Test("submit --wait for a repeating request ends with the occurrence")
  func waitRepeating() async throws {
    let host = MemoryHost { host, id in host.end(host.begin(id), .succeeded, message: "once", then: .pending) }
    try await run(host, ["submit", "a", "--every", "6h", "--wait"]) { result in
      #expect(result.status == 0)
      #expect(result.output == "once\n")
    }
  }

  @Test("submit --wait for a duplicate follows the holder")
  func waitKept() async throws {
    let holder = RequestID(sequence: 7, origin: 1)
    let host = MemoryHost { host, id in host.end(host.begin(id), .succeeded, message: "the holder's", then: .succeeded) }
    var request = TaskRequest(identifier: try TaskIdentifier("a"))
    (request.uniqueKey, request.onConflict) = ("k", .keep)
    let zero = WallTime(unixMilliseconds: 0)
    host.put(RequestRecord(id: holder, request: request, state: .pending, due: zero, submitted: zero))
    try await run(host, ["submit", "a", "--key", "k", "--wait"]) { result in
      #expect(result.status == 0)
      #expect(result.output == "the holder's\n")
      #expect(result.errors.contains("kept: \(holder)"))
    }
  }

  @Test("submit --wait exits 5 when the host goes away")
  func waitGone() async throws {
    let host = MemoryHost { host, _ in host.finish() }
    try await run(host, ["submit", "a", "--wait"]) { result in
      #expect(result.status == 5)
      #expect(result.errors.contains("the host went away"))
    }
  }

  @Test("submit --wait --json prints the submission and the run")
  func waitJSON() async throws {
    let host = MemoryHost { host, id in host.end(host.begin(id), .failed, message: "no", then: .failed) }
    try await run(host, ["submit", "a", "--wait", "--json"]) { result in
      #expect(result.status == 1)
      let node = try JSONReader.read(Array(result.output.utf8))
      #expect(node["outcome"]?.string == "failed")
      #expect(node["submission"]?["disposition"]?.string == "created")
      #expect(node["run"]?["message"]?.string == "no")
    }
  }

  @Test("simulate launch --wait follows what it launched")
  func simulate() async throws {
    let host = MemoryHost { host, id in host.end(host.begin(id), .succeeded, message: "done", then: .succeeded) }
    try await run(host, ["simulate", "launch", "a", "--wait"]) { result in
      #expect(result.status == 0)
      #expect(result.output == "done\n")
    }
  }

  /// Arguments, exit code, a part of standard error.
  static let refusals: [([String], Int32, String)] = [
    (["submit", "unknown"], 6, "taskhost: nobody registered unknown"),
    (["submit", "a b"], 6, "identifier"),
    (["simulate", "expire", "unknown"], 6, "taskhost: nobody registered unknown"),
    (["submit", "a", "--cron", "0 8 * * *", "--every", "6h"], 2, "--every and --cron exclude each other"),
    (["submit", "a", "--tz", "Europe/Berlin"], 2, "--tz needs --cron"),
    (["submit", "a", "--daylight-gap", "skip", "--every", "6h"], 2, "--daylight-gap needs --cron"),
    (["submit", "a", "--cron", "@daily", "--daylight-gap", "skp"], 6, "did you mean \"skip\"?"),
    (["submit", "a", "--deadline", "soon"], 2, "is not a moment"),
    (["submit", "a", "--missed", "skip"], 2, "--missed needs --every or --cron"),
    (["submit", "a", "--every", "6h", "--missed", "all:x"], 2, "has no valid number"),
    (["submit", "a", "--every", "6h", "--missed", "all:0"], 6, "--missed: 0 is outside of 1 to 10000"),
    (["submit", "a", "--every", "6h", "--missed", "all:-1"], 6, "--missed: -1 is outside of 1 to 10000"),
    (["submit", "a", "--every", "6h", "--missed", "al"], 6, "did you mean \"all\"?"),
    (["submit", "a", "--every", "6h", "--flex", "soon"], 2, "--flex"),
    (["submit", "a", "--on-event", "x", "--watch", "/y"], 2, "--on-event and --watch exclude each other"),
    (["submit", "a", "--every-event"], 2, "--every-event needs --on-event or --watch"),
    (["submit", "a", "--debounce", "5s"], 2, "--debounce needs --on-event or --watch"),
    (["submit", "a", "--on-event", "x", "--every", "6h"], 6, "send every_event"),
    (["submit", "a", "--watch", ""], 2, "the path is empty"),
    (["submit", "a", "--resource", "gpu=none"], 2, "has no valid number of tokens"),
    (["submit", "a", "--resource", "gpu=0"], 6, "--resource gpu: 0 is outside of 1 to 1000000"),
    (["submit", "a", "--resource", "gpu=-1"], 6, "--resource gpu: -1 is outside of 1 to 1000000"),
    (["submit", "a", "--resource", "=1"], 2, "has no name"),
    (["submit", "a", "--resource", "gpu", "--resource", "gpu"], 2, "is given twice"),
    (["submit", "a", "--unique-window", "1h"], 2, "--unique-window needs --key"),
    (["submit", "a", "--follows", "x"], 6, "x: no id of a request begins so"),
    (["submit", "a", "--follows", "x:ignore"], 6, "x: no id of a request begins so"),
    (["submit", "a", "--follows", "01976c1e-0000-7000-8000-000000000000:ignor"], 6, "did you mean \"ignore\"?"),
    (["submit", "a", "--on-lost-condition", "wait"], 6, "stop, finish"),
    (["submit", "a", "--on-conflict", "kep", "--key", "k"], 6, "did you mean \"keep\"?"),
    (["submit", "a", "--payload", "{"], 2, "--payload is not JSON"),
    (["submit", "a", "--payload", "@/no/such/file"], 2, "No such file"),
    (["submit", "a", "--after", "5"], 2, "is not a duration"),
    (["submit", "a", "--after=--5s"], 2, "is not a duration"),
    (["submit", "a", "--jitter", "11y"], 2, "with their units, w, d, h, m, s or ms, such as 90s"),
    (["submit", "a", "--jitter", "999999999999999d"], 2, "is longer than any limit: ten years, 3660d, is the most"),
    (["submit", "a", "--jitter", "99999999999999999999d"], 2, "is longer than any limit"),
    (["submit", "a", "--jitter", "3661d"], 6, "--jitter: 3661d is outside of 0s to 3660d"),
    (["token", "a\nb"], 2, "\"a\\nb\" has a control character"), (["notify", ""], 2, "EVENT is empty"),
    (["submit", "a", "--after=-1s"], 6, "--after: -1s is outside of 0s to"),
    (["submit", "a", "--every=-1h"], 6, "--every: -1h is outside of 1ms to"),
    (["submit", "a", "--at", "noon"], 2, "is not a moment"),
    (["submit", "a", "--after", "5m", "--at", "2026-11-21 08:00"], 2, "exclude each other"),
    (["submit"], 2, "Usage"),
    (["sumbit"], 2, "taskhost: "),
    (["tasks", "show", "x y/é"], 6, "x y/é: what stands before"), (["tasks", "show", "x é"], 6, "x é: no id of a request begins so"),
    (["transfers", "show", "x"], 6, "no id of a request begins so"),
    (["tasks", "why", "01976c1e-0000-7000-8000-000000000000"], 6, "there is no request"),
    (["tasks", "show", "01976c1e"], 6, "no request has an id that begins so"),
    (["runs", "show", "01976c1e-00"], 6, "no run has an id that begins so"),
    (["tasks", "why", "a.b/k"], 6, "no request of a.b has the unique key \"k\""),
    (["tasks", "cancel"], 2, "ids, --tag or --identifier"),
    (["tasks", "cancel", "x", "--tag", "y"], 2, "exclude each other"),
    (["tasks", "retry"], 2, "ids, or --all"),
    (["tasks", "retry", "--filter", "tag:a"], 2, "nobody can be asked here: add --yes, or --dry-run"),
    (["tasks", "retry", "--filter", "tag:a", "--all"], 2, "--filter excludes ids and --all"),
    (["tasks", "retry", "--all", "--dry-run"], 2, "go with --filter"),
    (["tasks", "cancel", "--filter", "tag:a", "--tag", "b"], 2, "say it in the filter"),
    (["tasks", "cancel", "--filter", "", "--yes"], 6, "every request is meant"),
    (["tasks", "discard", "--filter", "tags:a", "--yes"], 6, "did you mean \"tag\"?"),
    (["tasks", "snooze", "--filter", "tag:a", "x", "--for", "5m"], 2, "an id, or --filter"),
    (["tasks", "retry", "x", "--all"], 2, "exclude each other"),
    (["tasks", "retry", "x", "--identifier", "a"], 2, "go with --all"),
    (["tasks", "retry", "--all", "--identifier", "a b"], 6, "identifier"),
    (["tasks", "snooze", "x"], 2, "--for"),
    (["tasks", "snooze", "x", "--for", "later"], 2, "is not a duration"),
    (["tasks", "snooze", "01976c1e-0000-7000-8000-000000000000", "--for=-5m"], 6, "--for: -5m is outside of 0s to"),
    (["tasks", "snooze", "01976c1e-0000-7000-8000-000000000000", "--for", "5m"], 6, "there is no request"),
    (["tasks", "cancel", "x", "y"], 6, "y: no id of a request begins so"),
    (["tasks", "list", "--state", "pendin"], 6, "did you mean \"pending\"?"),
    (["tasks", "list", "tag:a", "stat:failed"], 6, "filter: at character 7: \"stat\" is not a word of filters; did you mean \"state\"?"),
    (["tasks", "list", "tag:" + String(repeating: "a", count: 20_000)], 6, "filter: at character 1: the filter has 20004 bytes"),
    (["tasks", "list", "tag:a", "--state", "failed"], 2, "say it in the filter, such as state:failed"),
    (["runs", "list", "outcome:crash"], 6, "at character 9: there is no outcome \"crash\"; did you mean \"crashed\"?"),
    (["runs", "logs", "-f", "x"], 6, "no id of a run begins so"),
    (["conditions", "set"], 2, "name=value"),
    (["conditions", "set", "network"], 2, "write network=none"),
    (["conditions", "set", "network=none", "network=any"], 2, "is given twice"),
    (["conditions", "set", "netwrok=none"], 6, "did you mean \"network\"?"),
    (["conditions", "set", "network=maybe"], 6, "it does not hold"),
    (["conditions", "clear", "netwrok"], 6, "did you mean \"network\"?"),
    (["reload", "now"], 2, "now"),
    (["forecast", "--hours", "0"], 6, "hours must be"),
    (["forecast", "--hours", "many"], 2, "--hours"),
    (["notify", "x", "--payload", "{"], 2, "--payload is not JSON"),
    (["notify", "a\nb"], 6, "control characters"),
    (["notify"], 2, "Usage"),
  ]

  @Test("what is not done is told on standard error, with an exit code", arguments: refusals)
  func refused(_ arguments: [String], _ status: Int32, _ text: String) async throws {
    try await run(MemoryHost(), arguments) { result in
      #expect(result.status == status)
      #expect(result.output == "")
      #expect(result.errors.contains(text), "\(result.errors)")
    }
  }

  @Test(
    "a time that clocks leave out is told as such, with what they show instead",
    arguments: [["submit", "a", "--at"], ["submit", "a", "--deadline"], ["runs", "list", "--since"], ["runs", "list", "--until"]])
  func skippedTime(_ arguments: [String]) async throws {
    try await run(MemoryHost(), arguments + ["2026-03-29 02:30"], environment: ["TZ": "Europe/Berlin"]) { result in
      #expect(result.status == 2)
      #expect(
        result.errors.contains("\(arguments.last ?? ""): there is no '2026-03-29 02:30' in this time zone, because clocks are set forward"),
        "\(result.errors)")
      #expect(result.errors.contains("write '2026-03-29 03:30"), "\(result.errors)")
    }
  }

  @Test("no host: exit 5, and what is there instead")
  func noHost() async throws {
    try await ControlFixture.withDirectory { directory in
      let absent = try await TaskHostProcess.run(["status", "--socket", "\(directory)/none.sock"])
      #expect(absent.status == 5)
      #expect(absent.errors.contains("no host is running there (start one: taskhost run"))
      try Data().write(to: URL(filePath: "\(directory)/file"))
      let file = try await TaskHostProcess.run(["submit", "a", "--wait", "--socket", "\(directory)/file"])
      #expect(file.status == 5)
      #expect(file.errors.contains("is not a socket"))
    }
  }

  @Test("a socket with the longest path there is, and one with a relative path, are reached")
  func paths() async throws {
    try await ControlFixture.withDirectory { directory in
      let path = directory + "/" + String(repeating: "x", count: ControlSocket.maximumPathBytes - directory.utf8.count - 1)
      try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: path)) {
        let long = try await TaskHostProcess.run(["status", "--socket", path])
        #expect(long.status == 0, "\(long.errors)")
        let relative = try await TaskHostProcess.run(
          ["status", "--socket", "./" + (path.split(separator: "/").last ?? "")], directory: directory)
        #expect(relative.status == 0, "\(relative.errors)")
      }
    }
  }

  @Test(
    "help goes to standard output and exits 0", arguments: [["--help"], ["submit", "--help"], ["help", "tasks", "list"], ["--version"]])
  func help(_ arguments: [String]) async throws {
    let result = try await TaskHostProcess.run(arguments)
    #expect(result.status == 0)
    #expect(!result.output.isEmpty)
    #expect(result.errors == "")
  }

  @Test("submit has an option for every field that a shell can write")
  func options() async throws {
    // The identifier is the argument; the others are written another way, or only in JSON.
    let others: Set<RequestField> = [.identifier, .payloadBase64, .earliestBegin, .deadline, .missedLimit, .retry]
    let help = try await TaskHostProcess.run(["submit", "--help"]).output
    for field in RequestField.allCases where !others.contains(field) { #expect(help.contains("--\(field.option)"), "\(field)") }
  }

  @Test("every command's help has an example")
  func examples() async throws {
    let commands = [
      ["run"], ["submit"], ["tasks", "list"], ["tasks", "show"], ["tasks", "why"], ["tasks", "cancel"], ["tasks", "retry"],
      ["tasks", "snooze"], ["tasks"], ["runs"], ["plugins"], ["simulate"], ["conditions"], ["conditions", "show"], ["conditions", "set"],
      ["conditions", "clear"], ["notify"], ["forecast"], ["runs", "list"], ["runs", "show"], ["runs", "logs"], ["plugins", "list"],
      ["plugins", "release"], ["simulate", "launch"], ["simulate", "expire"],
      ["status"], ["shutdown"],
    ]
    for command in commands {
      let result = try await TaskHostProcess.run(command + ["--help"])
      #expect(result.output.contains("EXAMPLES\n  taskhost \(command.joined(separator: " "))"), "\(command)")
      // None is so long that it is broken, which a shell would not forgive.
      let examples = result.output.split(separator: "EXAMPLES\n").last?.split(separator: "\n\n").first ?? ""
      #expect(examples.split(separator: "\n").allSatisfy { $0.hasPrefix("  ") }, "\(command): \(examples)")
    }
  }

  @Test("lists and records are shown for people, and as the host's JSON")
  func shown() async throws {
    let host = MemoryHost()
    let now = SystemClock().wallTime
    let id = RequestID(sequence: now.unixMilliseconds << 12, origin: 5)
    var request = TaskRequest(identifier: try TaskIdentifier("org.example.a"))
    request.payload = Array("{\"a\": 1}".utf8)
    host.put(RequestRecord(id: id, request: request, state: .pending, due: now + .seconds(5 * 3600 + 1800), submitted: now))
    host.setPlugins([PluginStatus(file: "/p/b.so", health: .refused, reasonCode: "abi", reasonMessage: "built for version 2")])
    let run = host.begin(id)
    host.log(run, "a line")
    host.end(run, .retried, message: "later", then: .pending, attemptsSpent: 1)
    try await ControlFixture.with(host) { fixture in
      func output(_ arguments: String...) async throws -> String {
        let result = try await TaskHostProcess.run(arguments + ["--socket", fixture.socket])
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result.output
      }
      let list = try await output("tasks", "list")
      #expect(list.hasPrefix("ID "))
      #expect(list.contains("org.example.a  pending  in 5 h  -        2        retried\n"))
      #expect(try JSONReader.read(Array(try await output("tasks", "list", "--json").utf8))["requests"]?.array?.count == 1)
      let record = try await output("tasks", "show", id.description)
      #expect(record.contains("payload         {\"a\": 1}\n"), "\(record)")
      #expect(record.contains("(in 5 h)"))
      #expect(try await output("tasks", "why", id.description) == "nothing holds it\n")
      #expect(try await output("runs", "list").contains("retried"))
      #expect(try await output("runs", "show", run.description).contains("message     later"))
      #expect(try await output("runs", "logs", run.description).hasSuffix("info a line\n"))
      #expect(try await output("runs", "logs", "-f", run.description).hasSuffix("info a line\n"))
      #expect(try await output("plugins", "list").contains("b.so  -           -     refused   -          -        built for version 2"))
      #expect(try await output("status").contains("phase"))
      #expect(try await output("tasks", "cancel", id.description) == "\(id) cancelled\n")
      #expect(try await output("shutdown", "--wait") == "draining\n")
    }
  }
}
