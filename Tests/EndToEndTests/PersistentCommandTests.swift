import Foundation
import Glibc
import TestSupport
import Testing

/// `persistent = true`: one process serves many runs by lines of JSON.
@Suite("Persistent commands", .timeLimit(.minutes(20)))
struct PersistentCommandTests {
  private static let sample = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Plugins/Samples/hello-python/hello.py")

  /// A handler in Python around `body`, which gets a message of the host and may `send`.
  private static func handler(_ body: String) -> String {
    """
    import json, os, sys, time
    def send(**message):
        print(json.dumps(message), flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        run = message["run"]
    \(body.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(separator: "\n"))

    """
  }

  /// Gives `body` a host with one persistent command, `work`, whose handler does `python` for each message.
  private func withHandler(_ python: String, _ keys: String = "", _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("handler.py", Self.handler(python))
      try host.configure("[command.work]\nrun = [\"python3\", \"\(host.directory("handler.py"))\"]\npersistent = true\n\(keys)\n")
      try await host.start()
      try await body(host)
    }
  }

  private func run(_ host: HostProcess, _ payload: String = "{}") async throws -> JSON? {
    try await host.cli("submit", "work", "--payload", payload, "--wait", "--json").json()["run"]
  }

  private func expectSuccess(_ host: HostProcess, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let outcome = try await run(host)?["outcome"]?.string
    #expect(outcome == "succeeded", sourceLocation: sourceLocation)
  }

  @Test("the sample in Python greets, logs and tells its progress, and one process serves its runs")
  func sample() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("hello.py", try Data(contentsOf: Self.sample), mode: 0o755)
      try host.configure("[command.hello]\nrun = [\"./hello.py\"]\npersistent = true\n")
      try await host.start()
      for name in ["Ada", "Grace"] {
        let result = try await host.cli("submit", "hello", "--payload", "{\n  \"names\": [\"\(name)\"]\n}", "--wait")
        #expect(result.status == 0 && result.output == "{\"greeted\": 1}\n", "\(result)")
        #expect(result.errors.contains("info: hello, \(name)"), "\(result)")
      }
    }
  }

  @Test("a process is kept between runs, counts them, and gets the request's id, attempt and payload")
  func kept() async throws {
    try await withHandler("send(type='result', run=run, result='success', output={'pid': os.getpid(), 'message': message})") { host in
      let outputs = [try await run(host, "[1, \"two\"]"), try await run(host, "null")].map { $0?["output"] }
      #expect(outputs[0]?["pid"]?.integer != nil && outputs[0]?["pid"] == outputs[1]?["pid"], "\(outputs)")
      let message = try #require(outputs[0]?["message"])
      #expect(message["identifier"]?.string == "work" && message["attempt"]?.integer == 1 && message["run"]?.integer == 1)
      #expect(message["payload"]?.array.count == 2 && (message["remaining_ms"]?.integer ?? 0) > 0)
      #expect(outputs[1]?["message"]?["run"]?.integer == 2)
      #expect(message["traceparent"] == nil)
    }
  }

  @Test("a result that comes twice ends no other run, and a log says so")
  func lateResults() async throws {
    let python = """
      send(type='result', run=run, result='success', output=run)
      send(type='result', run=run, result='failure')
      """
    try await withHandler(python) { host in
      let body = "[" + Array(repeating: "{\"identifier\":\"work\"}", count: 60).joined(separator: ",") + "]"
      let answer = try await host.post("/v1/requests", body)
      let ids = try answer.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
      #expect(ids.count == 60, "\(answer.body)")
      for id in ids { try await host.request(id, is: "succeeded") }
      try await host.current.line(with: "ignored: a result")
      #expect(try await run(host)?["output"]?.integer == 61, "one process has served them all")
    }
  }

  @Test("concurrent runs have a process each")
  func concurrent() async throws {
    let python = """
      with open(message["payload"], "w") as gate: gate.write(str(os.getpid()))
      send(type='result', run=run, result='success')
      """
    try await HostProcess.prepare { host in
      let gates = try ["a", "b"].map { try host.directory.fifo($0) }
      try host.directory.file("handler.py", Self.handler(python))
      try host.configure(
        "[command.work]\nrun = [\"python3\", \"\(host.directory("handler.py"))\"]\npersistent = true\nmax_concurrent_runs = 2\n")
      try await host.start()
      // Neither gate opens for a run before both runs are there: the first waits at its gate while the second begins.
      let ids = [
        try await host.submit(gates[0].path, identifier: "work"), try await host.submit(gates[1].path, identifier: "work"),
      ]
      let second = try await gates[1].read()
      let first = try await gates[0].read()
      #expect(first != second && !first.isEmpty && !second.isEmpty)
      for id in ids { try await host.request(id, is: "succeeded") }
    }
  }

  @Test("every result has its outcome; snooze and retry may name a delay, a message is kept")
  func results() async throws {
    let python = "send(type='result', run=run, result=message['payload'], message='as told', retry_after_ms=3600000)"
    try await withHandler(python) { host in
      for (result, outcome) in [("noop", "noop"), ("failure", "failed")] {
        let run = try await run(host, "\"\(result)\"")
        #expect(run?["outcome"]?.string == outcome && run?["message"]?.string == "as told", "\(run as Any)")
      }
      for result in ["snooze", "retry"] {
        let id = try await host.submit(result, identifier: "work")
        let record = try await host.request(id) { $0["state"]?.string == "pending" && $0["last_outcome"] != nil }
        #expect((record["due_unix_ms"]?.integer ?? 0) > Int64(Date().timeIntervalSince1970 * 1000) + 3_000_000, "\(record)")
      }
    }
  }

  @Test("progress with unit and message, and work, are in the run's record; a count that is none is named in its log")
  func records() async throws {
    let python = """
      send(type='progress', run=run, completed=1, total=4, unit='files', message='copying a')
      send(type='progress', run=run, completed=3, total=4)
      send(type='work', run=run, items_completed=2, bytes_out=10)
      send(type='work', run=run, items_completed=-1)
      send(type='work', run=run, items_failed=1, bytes_in=9223372036854775807)
      send(type='result', run=run, result='success')
      """
    try await withHandler(python) { host in
      let run = try #require(try await run(host, "null"))
      let progress = try #require(run["progress"])
      #expect(progress["completed"]?.integer == 3 && progress["unit"]?.string == "files" && progress["message"]?.string == "copying a")
      let work = try #require(run["work"])
      let counts = ["items_attempted", "items_completed", "items_failed", "bytes_in", "bytes_out"].map { work[$0]?.integer }
      #expect(counts == [3, 2, 1, .max, 10])
      let log = try await host.cli("runs", "logs", try #require(run["id"]?.string)).output
      #expect(log.contains("ignored: work with a \"items_completed\" that is not a whole number from 0"), "\(log)")
    }
  }

  @Test("a process that ends without a result fails its run for now, and the next run gets another")
  func crash() async throws {
    let python = """
      if message["payload"] == "die":
          print("the end", file=sys.stderr, flush=True)
          os._exit(3)
      send(type='result', run=run, result='success')
      """
    try await withHandler(python, "retry = { attempts = 1 }") { host in
      try await expectSuccess(host)
      let died = try await run(host, "\"die\"")
      #expect(died?["message"]?.string == "the process ended without a result: exit code 3: the end", "\(died as Any)")
      #expect(died?["outcome"]?.string == "retried")
      try await expectSuccess(host)
    }
  }

  @Test("the last line needs no line feed, and a program that closes its input is tried again at once")
  func ends() async throws {
    let python = """
      if message["payload"] == "last":
          sys.stdout.write(json.dumps({"type": "result", "run": run, "result": "success"}))
          sys.stdout.flush()
          os._exit(0)
      send(type='result', run=run, result='success')
      os.close(0)
      time.sleep(600)
      """
    try await withHandler(python, "retry = { attempts = 1 }") { host in
      let last = try await run(host, "\"last\"")
      #expect(last?["outcome"]?.string == "succeeded", "\(last as Any)")
      try await expectSuccess(host)
      let closed = try await run(host)
      #expect(closed?["message"]?.string == "the program has closed its standard input", "\(closed as Any)")
    }
  }

  @Test("at its budget a run gets an expire line; one that does not heed it is killed before the grace is over")
  func expiration() async throws {
    let python = """
      if message["type"] == "expire":
          send(type='result', run=run, result='snooze', message=f"{message['reason']} {message['grace_ms'] > 0}", retry_after_ms=3600000)
      elif message["payload"] == "deaf":
          time.sleep(600)
      """
    try await withHandler(python, "budget = \"200ms\"\ngrace = \"400ms\"\nretry = { attempts = 1 }") { host in
      let heeds = try await host.submit("heeds", identifier: "work")
      try await host.request(heeds) { $0["last_outcome"] != nil }
      let run = try #require(try await host.runs(of: heeds).first)
      #expect(run["outcome"]?.string == "snoozed" && run["message"]?.string == "budget True", "\(run)")
      let deaf = try await self.run(host, "\"deaf\"")
      #expect(deaf?["message"]?.string == "stopped, because its budget was spent: SIGKILL ended it", "\(deaf as Any)")
    }
  }

  @Test("lines that are not as the protocol says are named and do no harm; a bad result fails the run")
  func flaws() async throws {
    let python = """
      print("only text", flush=True)
      print("[1]", flush=True)
      send(type='nonsense', run=run)
      send(type='progress', run=run, completed=-1)
      send(type='result', run=run + 1, result='success')
      send(type='result', run=run, result=message["payload"])
      """
    try await withHandler(python, "retry = { attempts = 1 }") { host in
      let good = try await host.cli("submit", "work", "--payload", "\"success\"", "--wait")
      #expect(good.status == 0, "\(good)")
      for words in ["info: only text", "info: [1]", "unknown type \"nonsense\"", "\"completed\", a whole number", "result for run 2"] {
        #expect(good.errors.contains(words), "\(words): \(good.errors)")
      }
      let bad = try await run(host, "\"perfect\"")
      #expect(bad?["outcome"]?.string == "failed" && bad?["message"]?.string?.contains("found \"perfect\"") == true, "\(bad as Any)")
    }
  }

  @Test("idle_time ends a process without a run, and a shutdown ends those that wait, by the end of their input")
  func idleTime() async throws {
    let python = """
      send(type='result', run=run, result='success')
      """
    try await HostProcess.prepare { host in
      let gates = try ["kept", "short"].map { try host.directory.fifo($0) }
      var text = ""
      for (name, key) in [("kept", ""), ("short", "idle_time = \"0s\"\n")] {
        try host.directory.file(
          "\(name).py", Self.handler(python) + "print('bye', file=open('\(host.directory("shared/\(name)"))', 'w'))\n")
        text += "[command.\(name)]\nrun = [\"python3\", \"\(host.directory("\(name).py"))\"]\npersistent = true\n\(key)"
      }
      try host.configure(text)
      try await host.start()
      for name in ["kept", "short"] {
        let result = try await host.cli("submit", name, "--wait")
        #expect(result.status == 0, "\(result)")
      }
      let short = try await gates[1].read()
      #expect(short == "bye\n")
      async let kept = gates[0].read()
      let end = try await host.terminate()
      #expect(end.status == 0, "\(end)")
      let last = try await kept
      #expect(last == "bye\n")
    }
  }

  @Test("a persistent command works in the sandbox of a worker too")
  func sandbox() async throws {
    let python = """
      try:
          open(message["payload"])
          found = "read"
      except PermissionError:
          found = "denied"
      send(type='result', run=run, result='success', output=found)
      """
    try await HostProcess.prepare { host in
      try host.directory.file("shared/handler.py", Self.handler(python))
      try host.directory.file("closed", "x")
      try host.configure(
        """
        [command.work]
        run = ["python3", "\(host.directory("shared/handler.py"))"]
        persistent = true
        [command.work.entitlements]
        read = ["\(host.directory("shared"))", "/usr/lib/python3", "/usr/local/lib"]

        """)
      try await host.start()
      for (file, found) in [("closed", "denied"), ("shared/handler.py", "read")] {
        let run = try await run(host, "\"\(host.directory(file))\"")
        #expect(run?["output"]?.string == found, "\(run as Any)")
      }
    }
  }
}
