import TestSupport
import Foundation
import Testing

/// Where `make samples` puts the plugins.
private let builtSamples = ProcessInfo.processInfo.environment["TASKHOST_SAMPLES"]

/// Code as it is written for iOS (`Tests/Fixtures/AppleCode`), built under both language modes, as plugins of the real host.
@Suite(
  "Apple's BackgroundTasks", .timeLimit(.minutes(20)),
  .enabled(if: builtSamples != nil, "make test builds the plugins and sets TASKHOST_SAMPLES"))
struct BackgroundTasksTests {
  /// The language modes; "26" is 6 with all code on the main actor, as Xcode 26 sets it for a new app.
  private static let modes = ["5", "6"]

  /// Gives `body` a host that has launched an app.
  private func with(_ app: String, _ mode: String, _ configuration: String = "", _ body: (HostProcess) async throws -> Void) async throws {
    let samples = try #require(builtSamples)
    try await HostProcess.prepare { host in
      let file = URL(filePath: "\(samples)/apple-code/release/lib\(app)\(mode).so")
      try host.directory.file("plugins/app.so", try Data(contentsOf: file))
      try host.configure(configuration)
      try await host.start()
      try await body(host)
    }
  }

  /// The requests of an identifier in a state, newest first.
  private func requests(_ host: HostProcess, _ identifier: String, _ state: String) async throws -> [JSON] {
    let all = try await host.json("tasks", "list", "--identifier", identifier)["requests"]?.array ?? []
    return all.filter { $0["state"]?.string == state }
  }

  /// Submits as an operator does, without a payload, and waits for the end.
  private func submit(_ host: HostProcess, _ identifier: String) async throws -> JSON {
    let result = try await host.cli("submit", identifier, "--wait", "--json")
    guard [0, 1].contains(result.status) else { throw TestFailure("submit \(identifier): \(result.status): \(result.errors)") }
    return try result.json()
  }

  @Test("what an app registers and submits at its launch is there", arguments: modes)
  func launch(_ mode: String) async throws {
    try await with("PhoneApp", mode) { host in
      let plugin = try await host.plugin("app.so")
      #expect(plugin["standing"]?.string == "registered")
      let refresh = try await requests(host, "test.apple.feed.refresh", "pending")
      #expect(refresh.count == 1)
      #expect(try await requests(host, "test.apple.database.clean", "pending").count == 1)
      // The health research request begins at once; its handler asks for its class.
      let study = try #require(try await host.json("tasks", "list", "--identifier", "test.apple.study")["requests"]?.array.first)
      try await host.request(try #require(study["id"]?.string), is: "succeeded")
    }
  }

  @Test("a relaunch replaces what the launch before submitted", arguments: modes)
  func relaunch(_ mode: String) async throws {
    try await with("PhoneApp", mode) { host in
      let before = try await requests(host, "test.apple.feed.refresh", "pending").first?["id"]?.string
      try await host.terminate()
      try await host.start()
      let after = try await requests(host, "test.apple.feed.refresh", "pending")
      #expect(after.count == 1)
      #expect(after.first?["id"]?.string != before)
    }
  }

  @Test("an OperationQueue handler that submits the next request first", arguments: modes)
  func operationQueue(_ mode: String) async throws {
    try await with("PhoneApp", mode) { host in
      let answer = try await submit(host, "test.apple.feed.refresh")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect(try await requests(host, "test.apple.feed.refresh", "pending").count == 1)
      #expect(try await requests(host, "test.apple.feed.refresh", "cancelled").count == 1)
    }
  }

  @Test("a handler that blocks its own queue and submits the next request last", arguments: modes)
  func blocking(_ mode: String) async throws {
    try await with("PhoneApp", mode) { host in
      let answer = try await submit(host, "test.apple.database.clean")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect(try await requests(host, "test.apple.database.clean", "pending").count == 1)
      #expect(try await requests(host, "test.apple.database.clean", "cancelled").count == 1)
    }
  }

  @Test("an async handler that starts a continued task on the main actor, under a wildcard, with progress", arguments: modes)
  func continued(_ mode: String) async throws {
    try await with("PhoneApp", mode) { host in
      let answer = try await submit(host, "test.apple.sync")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      let all = try await host.json("tasks", "list", "--identifier", "test.apple.export")["requests"]?.array ?? []
      let id = try #require(all.first?["id"]?.string)
      try await host.request(id, is: "succeeded")
      let run = try #require(try await host.records(of: id).first)
      #expect(run["message"]?.string == "Export: 10 of 10")
      #expect(run["progress"]?["completed"]?.integer == 10)
      #expect(run["progress"]?["total"]?.integer == 10)
    }
  }

  @Test("a class of the main actor that is launched there and handles there", arguments: modes + ["26"])
  func mainActor(_ mode: String) async throws {
    try await with("DelegateApp", mode) { host in
      let answer = try await submit(host, "test.apple.delegate")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
    }
  }

  /// Nothing is promised of the main queue there: it is the host's where plugin and host share one libdispatch, else nobody's.
  @Test("in thread isolation a class of the main actor is launched, and a run that cannot begin says so", arguments: modes)
  func mainActorInThread(_ mode: String) async throws {
    let table = "[plugin.\"test.apple.delegate\"]\nisolation = \"thread\"\nbudget = \"1s\"\n\n[retry]\nattempts = 1\n"
    try await with("DelegateApp", mode, table) { host in
      let answer = try await submit(host, "test.apple.delegate")
      guard answer["outcome"]?.string != "succeeded" else { return }
      #expect(answer["run"]?["message"]?.string?.contains("only process isolation is sure to serve") == true, "\(answer)")
    }
  }

  @Test("SwiftUI's shape: returning is completion, running out of time is cancellation", arguments: modes)
  func scene(_ mode: String) async throws {
    try await with("SceneApp", mode, "[plugin.\"test.apple.scene.slow\"]\nbudget = \"200ms\"\n") { host in
      let answer = try await submit(host, "test.apple.scene")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect(try await requests(host, "test.apple.scene", "pending").count == 1)
      let id = try await host.submit("", identifier: "test.apple.scene.slow")
      try await host.request(id) { ($0["attempt"]?.integer ?? 1) > 1 }
      let first = try #require(try await host.records(of: id).last)
      #expect(first["outcome"]?.string == "retried")
      #expect(first["expired"]?.bool == true)
      #expect(first["stop_reason"]?.string == "budget")
    }
  }

  @Test("SwiftUI's shape in thread isolation", arguments: modes)
  func sceneInThread(_ mode: String) async throws {
    try await with("SceneApp", mode, "[plugin.\"test.apple.scene\"]\nisolation = \"thread\"\n") { host in
      let answer = try await submit(host, "test.apple.scene")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect(try await requests(host, "test.apple.scene", "pending").count == 1)
    }
  }

  // MARK: As code for iOS is written

  @Test(
    "code of many hands: operations, Swift tasks, actors, wrappers, completion handlers; each shape's run succeeds", arguments: modes)
  func shapes(_ mode: String) async throws {
    try await with("FieldApp", mode) { host in
      for name in ["news", "prune", "follow-up", "renewal", "polling", "backup", "sync", "wrapped", "button"] {
        let answer = try await submit(host, "test.field.\(name)")
        #expect(answer["outcome"]?.string == "succeeded", "\(name): \(answer)")
      }
      for name in ["news", "follow-up", "renewal", "polling", "backup", "sync"] {
        // One refresh may be pending for each plugin, and the news has it.
        let pending = try await requests(host, "test.field.\(name)", "pending")
        #expect(pending.count == (name == "follow-up" ? 0 : 1), "\(name)")
      }
      // What the button started: a continued task under an identifier made up at run time, with progress in children.
      let renders = try await host.json("tasks", "list", "--identifier", "test.field.render")["requests"]?.array ?? []
      let id = try #require(renders.first?["id"]?.string)
      try await host.request(id, is: "succeeded")
      #expect(try await host.records(of: id).first?["message"]?.string == "Rendering: part 2, 100 %")
    }
  }

  @Test("what is submitted at launch in a completion handler, on another queue and in a Swift task is there", arguments: modes)
  func launchElsewhere(_ mode: String) async throws {
    try await with("FieldApp", mode) { host in
      for name in ["backup", "sync"] {
        let pending = try await requests(host, "test.field.\(name)", "pending")
        #expect(pending.count == 1, "\(name)")
      }
    }
  }

  @Test("conditions are the request's, and hold it; an operator's launch passes them", arguments: modes)
  func conditions(_ mode: String) async throws {
    try await with("FieldApp", mode) { host in
      let answer = try await submit(host, "test.field.renewal")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      let pending = try await requests(host, "test.field.renewal", "pending")
      #expect(pending.count == 1)
      #expect(pending.first?["conditions"]?.array.map(\.string) == ["network"])
      _ = try await host.json("conditions", "set", "network=none")
      let id = try #require(pending.first?["id"]?.string)
      let why = try await host.json("tasks", "why", id)
      #expect(why["details"]?.array.contains { $0["gate"]?.string == "conditions" } == true, "\(why)")
      // An operator's launch asks for none of it.
      _ = try await host.json("simulate", "launch", "test.field.renewal")
      try await host.request(id, is: "succeeded")
    }
  }

  // MARK: Chains of requests

  @Test("an app that submits its next request long after an expired run has been completed goes on", arguments: modes)
  func lateChain(_ mode: String) async throws {
    try await with("FieldApp", mode, "[retry]\nattempts = 1\n") { host in
      let id = try await host.submit("", identifier: "test.field.late-chain")
      // Not as soon as the run is live: its launch handler begins on a queue.
      try await host.current.line(with: "the import has begun")
      #expect(try await host.cli("simulate", "expire", "test.field.late-chain").status == 0)
      try await host.request(id, is: "failed")
      #expect(try await host.records(of: id).first?["forced"]?.bool != true)
      // Half a second after its run, which has long been recorded.
      let line = try await host.current.line(with: "the next import is ")
      #expect(line.contains("the next import is scheduled"))
      let pending = try await requests(host, "test.field.late-chain", "pending")
      #expect(pending.count == 1 && pending.first?["id"]?.string != id, "\(pending)")
    }
  }

  @Test("an app that submits itself without a date runs at the host's pace, which the log says once; simulate launch runs it now")
  func endless() async throws {
    try await with("FieldApp", "6") { host in
      let first = try await submit(host, "test.field.endless")
      #expect(first["outcome"]?.string == "succeeded", "\(first)")
      for round in 2...3 {
        let next = try #require(try await requests(host, "test.field.endless", "pending").first)
        let start = try #require(next["due_unix_ms"]?.integer)
        #expect(Double(start) / 1000 > Date().timeIntervalSince1970 + 600, "\(next)")
        #expect(try await host.json("tasks", "list", "--identifier", "test.field.endless")["requests"]?.array.count == round)
        let simulated = try await host.json("simulate", "launch", "test.field.endless")
        try await host.request(try #require(simulated["id"]?.string), is: "succeeded")
      }
      try await host.terminate()
      #expect(host.current.lines.count { $0.contains("waits for minimum_interval, 15m") } == 1)
    }
    // As often as the operator says.
    try await with("FieldApp", "6", "[plugin.\"test.field.endless\"]\nminimum_interval = \"1s\"\n") { host in
      _ = try await submit(host, "test.field.endless")
      try await host.current.line(with: "endless round 3")
    }
  }

  @Test("a task that nobody can complete any more ends with a message and costs its plugin nothing", arguments: modes)
  func forgotten(_ mode: String) async throws {
    try await with("FieldApp", mode, "[retry]\nattempts = 1\n") { host in
      let answer = try await submit(host, "test.field.forgotten")
      #expect(answer["outcome"]?.string != "succeeded", "\(answer)")
      #expect(answer["run"]?["message"]?.string?.contains("setTaskCompleted was never called") == true, "\(answer)")
      #expect(try await host.plugin("app.so")["standing"]?.string == "registered")
      #expect(try await submit(host, "test.field.news")["outcome"]?.string == "succeeded")
    }
  }

  // MARK: Under stress

  @Test("many identifiers at once, some of which expire while they complete: each run ends by itself", arguments: modes)
  func manyAtOnce(_ mode: String) async throws {
    // Their work takes as long as the first six may take.
    let hurried = (1...6).map { "[plugin.\"test.field.topic.\($0)\"]\nbudget = \"20ms\"\n" }.joined()
    let retry = "[retry]\nattempts = 3\ninitial = \"100ms\"\nmaximum = \"200ms\"\n"
    try await with("FieldApp", mode, "max_concurrent_runs = 12\n\(hurried)\(retry)") { host in
      var ids: [String] = []
      for round in 0..<3 {
        for topic in 1...12 { ids.append(try await host.submit("", identifier: "test.field.topic.\((topic + round) % 12 + 1)")) }
      }
      for id in ids {
        let request = try await host.request(id) { ["succeeded", "failed"].contains($0["state"]?.string ?? "") }
        let isHurried = request["identifier"]?.string.flatMap { Int($0.dropFirst("test.field.topic.".count)) }.map { $0 <= 6 } ?? false
        #expect(request["state"]?.string == "succeeded" || isHurried, "\(request)")
        for run in try await host.records(of: id) {
          #expect(["succeeded", "retried", "failed"].contains(run["outcome"]?.string ?? ""), "\(run)")
          #expect(run["forced"]?.bool != true, "\(run)")
        }
      }
    }
  }

  @Test("a host that is killed while a task runs runs the request again", arguments: modes)
  func killed(_ mode: String) async throws {
    try await with("SceneApp", mode) { host in
      let id = try await host.submit("", identifier: "test.apple.scene.slow")
      try await host.request(id, is: "running")
      await host.kill()
      try await host.start()
      try await host.request(id, is: "running")
      #expect(try await host.runs(of: id).count == 2)
      #expect(try await host.cli("simulate", "expire", "test.apple.scene.slow").status == 0)
      try await host.request(id) { $0["state"]?.string == "pending" }
      let outcomes = try await host.records(of: id).map { $0["outcome"]?.string }
      #expect(outcomes.contains("retried"), "\(outcomes)")
    }
  }

  @Test(
    "a host that drains cancels a run's Swift task, and the request waits for the next host without losing an attempt", arguments: modes)
  func drained(_ mode: String) async throws {
    try await with("SceneApp", mode, "drain_timeout = \"100ms\"\n") { host in
      let id = try await host.submit("", identifier: "test.apple.scene.slow")
      try await host.request(id, is: "running")
      #expect(try await host.terminate().status == 0)
      try await host.start()
      try await host.request(id, is: "running")
      let first = try #require(try await host.records(of: id).last)
      #expect(first["outcome"]?.string == "stopped", "\(first)")
      #expect(first["stop_reason"]?.string == "draining")
      #expect(first["forced"]?.bool != true)
    }
  }

  @Test("an app that imports SwiftUI, os and OSLog: its lines are redacted, its activity holds the host, its container is its own folder")
  func appleNames() async throws {
    try await with("StoreApp", "6", "[log]\nlevel = \"debug\"\n") { host in
      let answer = try await submit(host, "test.apple.store")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      try await host.current.line(with: "[test.apple.store:sync] refresh 1 for <private> of Anna")
      try await host.current.line(with: "[test.apple.store:old] Anna has 3 items")
      try await host.current.line(with: "assertion held for at most 30s: saving", "test.apple.store")
      try await host.current.line(with: "[test.apple.store:sync] saving, expired: false")
      try await host.current.line(with: "assertion given back")
      #expect(!host.current.lines.contains { $0.contains("not saved") })
      let push = try await submit(host, "test.apple.store.push")
      #expect(push["run"]?["outcome"]?.string == "noop", "\(push)")
    }
  }
}
