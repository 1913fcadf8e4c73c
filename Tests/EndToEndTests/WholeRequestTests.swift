import Foundation
import TestSupport
import Testing

/// What a plugin says in a request arrives as what the command line says.
@Suite("Whole requests of plugins", .timeLimit(.minutes(20)))
struct WholeRequestTests {
  private func with(_ isolation: Isolation, _ arguments: [String] = [], _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("whole.so", "whole", ["-DIDENTIFIER=\"test.whole\""] + arguments)
      try await host.add("script.so", "script")
      try host.configure(
        "[windows.night]\nfrom = \"01:00\"\nto = \"02:00\"\n[resources]\ngpu = 4\n[plugin.\"test.whole\"]\nminimum_interval = \"1s\"\n")
      try await host.start()
      try await body(host)
    }
  }

  /// Runs the handler, which submits, and returns the lines of its output: ids or refusals.
  private func submissions(_ host: HostProcess, _ what: String, _ identifier: String = "test.whole") async throws -> [String] {
    let run = try await host.run(what, identifier: identifier)
    let output = try #require(run["run"]?["output_base64"]?.string.flatMap { Data(base64Encoded: $0) }, "\(run)")
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func expectOnce(_ request: JSON) {
    #expect(request["conditions"]?.array.compactMap(\.string) == ["power", "storage_not_low"], "\(request)")
    #expect(request["on_lost_condition"]?.string == "finish")
    #expect(request["unique_key"]?.string == "only")
    #expect(request["on_conflict"]?.string == "update")
    #expect(request["unique_window_ms"]?.integer == 600_000)
    #expect(request["idempotency_key"]?.string == "test.whole/1")
    #expect(request["deadline"]?.string != nil)
    #expect(request["clock"]?.string == "boot")
    #expect(request["flex_ms"]?.integer == 60_000)
    #expect(request["priority"]?.integer == -3)
    #expect(request["retry"]?["attempts"]?.integer == 7)
    #expect(request["retry"]?["backoff"]?.string == "linear")
    #expect(request["retry"]?["initial_ms"]?.integer == 2000)
    #expect(request["retry"]?["maximum_ms"]?.integer == 9000)
    #expect(request["tags"]?.array.compactMap(\.string) == ["first", "second"])
    #expect(request["resources"]?["gpu"]?.integer == 2)
    #expect(request["window"]?.string == "night")
    #expect(request["concurrency_key"]?.string == "account-1")
    #expect(request["prefer"]?.string == "eu-west")
  }

  private func expectDaily(_ request: JSON) {
    #expect(request["cron"]?.string == "30 2 * * *", "\(request)")
    #expect(request["time_zone"]?.string == "Europe/Berlin")
    #expect(request["daylight_gap"]?.string == "skip")
    #expect(request["daylight_repeat"]?.string == "both")
    #expect(request["missed"]?.string == "all")
    #expect(request["missed_limit"]?.integer == 3)
    #expect(request["missed_spread_ms"]?.integer == 1000)
  }

  @Test("every field of a request that a run submits is in tasks show", arguments: Isolation.allCases)
  func everyField(_ isolation: Isolation) async throws {
    try await with(isolation) { host in
      let ids = try await submissions(host, "once")
      try #require(ids.count == 2, "\(ids)")
      let request = try await host.json("tasks", "show", ids[1])
      expectOnce(request)
      #expect(request["state"]?.string == "blocked")
      #expect(request["after"]?.array.first?["request"]?.string == ids[0])
      #expect(request["after"]?.array.first?["on_failure"]?.string == "ignore")
      let first = try await host.json("tasks", "show", ids[0])
      let due = try #require(first["due_unix_ms"]?.integer)
      #expect(abs(Double(due) / 1000 - Date().timeIntervalSince1970 - 3600) < 60, "\(first)")
      let daily = try await submissions(host, "daily")
      expectDaily(try await host.json("tasks", "show", try #require(daily.first)))
    }
  }

  @Test("a launch submits the same; one that repeats needs a key there", arguments: Isolation.allCases)
  func atLaunch(_ isolation: Isolation) async throws {
    try await with(isolation, ["-DLAUNCH"]) { host in
      let requests = try await host.json("tasks", "list", "--identifier", "test.whole")["requests"]?.array ?? []
      #expect(requests.count == 2, "\(requests)")
      expectOnce(try #require(requests.first { $0["unique_key"]?.string == "only" }))
      expectDaily(try #require(requests.first { $0["unique_key"]?.string == "daily" }))
      try await host.terminate()
      try await host.start()
      #expect(try await host.json("tasks", "list", "--identifier", "test.whole")["requests"]?.array.count == 2)
    }
  }

  @Test("what a run has submitted runs: again at its interval, after its predecessor, at its event", arguments: Isolation.allCases)
  func runs(_ isolation: Isolation) async throws {
    try await with(isolation) { host in
      let repeating = try #require(try await submissions(host, "every").first)
      try await host.runs(of: repeating, reach: 3)
      #expect(try await host.cli("tasks", "cancel", repeating).status == 0)

      let chain = try await submissions(host, "chain")
      try #require(chain.count == 2, "\(chain)")
      #expect(try await host.json("tasks", "show", chain[1])["state"]?.string == "blocked")
      try await host.request(chain[1], is: "succeeded")
      #expect(try await host.json("tasks", "show", chain[0])["state"]?.string == "succeeded")
      try await host.current.line(with: "worked on", "true")

      let waiting = try await submissions(host, "event")
      try #require(waiting.count == 2, "\(waiting)")
      #expect(try await host.json("tasks", "show", waiting[0])["event"]?.string == "pushed")
      #expect(try await host.json("tasks", "show", waiting[1])["every_event"]?.bool == true)
      #expect(try await host.cli("notify", "pushed").status == 0)
      try await host.request(waiting[0], is: "succeeded")
      try await host.runs(of: waiting[1], reach: 1)
      #expect(try await host.cli("notify", "pushed").status == 0)
      try await host.runs(of: waiting[1], reach: 2)
    }
  }

  @Test(
    "a plugin waits for no file by an event's name and for nobody else's request, and one of the first header goes on as it did",
    arguments: Isolation.allCases)
  func refusals(_ isolation: Isolation) async throws {
    try await with(isolation) { host in
      let foreign = try await host.submit("result 0", ["--after", "1h"])
      let after = try await submissions(host, "after \(foreign)")
      #expect(after.first?.hasPrefix("-1 after: there is no request \(foreign) of an identifier that test.whole may submit to") == true)
      let missing = "01976c1e-0000-7000-8000-000000000000"
      let unknown = try await submissions(host, "after \(missing)")
      #expect(unknown == after.map { $0.replacingOccurrences(of: foreign, with: missing) }, "ids of others do not show: \(unknown)")
      let file = try await submissions(host, "file")
      #expect(file.first?.hasPrefix("-1 event: an event name must not begin with file:") == true, "\(file)")
      let old = try await submissions(host, "old")
      try #require(old.count == 2)
      try await host.request(old[0], is: "succeeded")
      #expect(old[1].hasPrefix("-1 request has struct_size 60"), "\(old)")
    }
  }

  @Test("a plugin waits for changes of a file that it is entitled to, and of no other")
  func watched() async throws {
    try await HostProcess.prepare { host in
      try await host.add("whole.so", "whole", ["-DIDENTIFIER=\"test.whole\""])
      let folder = try host.unusedPath()
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try host.configure("")
      try await host.start()
      let foreign = try await submissions(host, "watch /etc/hostname")
      #expect(
        foreign.first?.hasPrefix("-4 watch: \"/etc/hostname\" is not below a path of the plugin's entitlements") == true, "\(foreign)")
      for path in ["\(folder)/../escape", "\(folder)/../../shared-beside/file"] {
        #expect(try await submissions(host, "watch \(path)").first?.hasPrefix("-4 watch: ") == true, "\(path)")
      }
      #expect(try await submissions(host, "watch relative").first?.hasPrefix("-1 watch: \"relative\" is not an absolute path") == true)
      let waiting = try #require(try await submissions(host, "watch \(folder)/new").first)
      #expect(try await host.json("tasks", "show", waiting)["watch"]?.string == "\(folder)/new")
      try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/new"))
      try await host.request(waiting, is: "succeeded")
    }
  }

  @Test("a plugin in a thread of the host may watch whatever the host can read")
  func watchedByThread() async throws {
    try await with(.thread) { host in
      let waiting = try #require(try await submissions(host, "watch /etc/hostname").first)
      #expect(try await host.json("tasks", "show", waiting)["watch"]?.string == "/etc/hostname")
    }
  }

  @Test("a plugin wakes the machine only where its configuration says so")
  func waking() async throws {
    try await HostProcess.prepare { host in
      for name in ["plain", "waker"] { try await host.add("\(name).so", "whole", ["-DIDENTIFIER=\"test.\(name)\""]) }
      for name in ["greedy", "eager"] {
        try await host.add("\(name).so", "whole", ["-DIDENTIFIER=\"test.\(name)\"", "-DLAUNCH_WAKE"])
      }
      let permitted = ["waker", "eager"].map { "[plugin.\"test.\($0)\"]\nmay_wake = true\n" }
      try host.configure(permitted.joined() + "[plugin.\"test.plain\"]\nmay_submit = [\"test.waker\"]\n")
      try await host.start()
      let refusal = "wake: test.plain may not wake the machine: set may_wake = true in its table"
      for order in ["wake", "rewake", "wake test.waker"] {
        #expect(try await submissions(host, order, "test.plain").last == "-4 \(refusal)", "\(order)")
      }
      let greedy = try await host.plugin("greedy.so")["reason"]?["message"]?.string
      #expect(greedy?.contains("wake: test.greedy may not wake the machine: set may_wake = true in its table") == true, "\(greedy ?? "")")
      #expect(try await host.plugin("eager.so")["state"]?.string != "refused")
      for order in ["wake", "rewake"] {
        let waiting = try #require(try await submissions(host, order, "test.waker").last)
        #expect(try await host.json("tasks", "show", waiting)["wake"]?.bool == true, "\(order)")
      }
      #expect(try await host.json("tasks", "list", "--identifier", "test.eager")["requests"]?.array.first?["wake"]?.bool == true)
    }
  }

  @Test("a plugin in a thread of the host may wake the machine")
  func wakingByThread() async throws {
    try await with(.thread) { host in
      let waiting = try #require(try await submissions(host, "wake").first)
      #expect(try await host.json("tasks", "show", waiting)["wake"]?.bool == true)
    }
  }

  @Test("a plugin whose launch submits a request that waits for somebody else's is refused", arguments: Isolation.allCases)
  func foreignAtLaunch(_ isolation: Isolation) async throws {
    try await with(isolation) { host in
      let foreign = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      try await host.add("late.so", "whole", ["-DIDENTIFIER=\"test.late\"", "-DLAUNCH_AFTER=\"\(foreign)\""], isCached: false)
      try await host.start()
      let refused = try await host.plugin("late.so")["reason"]
      #expect(refused?["message"]?.string?.contains("waits for \(foreign), which it may not") == true, "\(String(describing: refused))")
    }
  }
}
