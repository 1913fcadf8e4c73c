import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Launching in a test host", .timeLimit(.minutes(10)))
struct LaunchTests {
  /// As in Plugins/Samples/hello-swift.
  struct Hello: BackgroundTask {
    struct Payload: Decodable { var name: String? }

    static let identifier = "org.taskhost.samples.hello-swift"

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      task.logger.info("hello, \(task.payload.name ?? "world")")
      return .success
    }
  }

  @Test("the sample runs, with a payload and without")
  func sample() async throws {
    let host = try TestHost(Hello.self)
    #expect(try await host.run().log.map(\.message) == ["hello, world"])
    #expect(try await host.run(payload: ["name": "Ann"]).log.map(\.message) == ["hello, Ann"])
    let run = try await host.run(payload: .json("{"))
    #expect(run.outcome == .failed)
  }

  struct Configured: BackgroundTask {
    struct Settings: Decodable { let days: Int }
    static let identifier = "org.example.configured"
    let days: Int
    let folder: String

    init(_ launch: LaunchContext<Settings>) throws {
      guard launch.settings.days > 0 else { throw TaskFailure.permanent("days must be above zero") }
      days = launch.settings.days
      folder = launch.dataDirectory
      launch.log(.notice, "keeps \(days) days")
      try launch.submit(TaskRequest(identifier: Self.identifier, uniqueKey: "daily", onConflict: .keep))
    }

    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
      try Data("\(days)".utf8).write(to: URL(filePath: folder + "/days"))
      return .success
    }
  }

  @Test("a plugin is given its settings and a folder of its own, which is removed with the host")
  func settings() async throws {
    let folder: String
    do {
      let host = try TestHost(Configured.self, settings: ["days": 7])
      #expect(host.launchLog.map(\.description) == ["notice: keeps 7 days"])
      #expect(host.pendingRequests.map(\.submitted.uniqueKey) == ["daily"])
      folder = try host.dataDirectory()
      #expect(try await host.runNext()?.result == .success)
      #expect(try String(contentsOfFile: folder + "/days", encoding: .utf8) == "7")
    }
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test(
    "settings that do not decode and an init that throws refuse the launch",
    arguments: [(#"{"days":"x"}"#, "settings.days: "), ("{}", "settings.days: missing"), (#"{"days":0}"#, "days must be above zero")])
  func refused(settings: String, reason: String) throws {
    let error = #expect(throws: TestHostError.self) { try TestHost(Configured.self, settings: .json(settings)) }
    #expect(error?.description.contains("org.example.configured: launch refused: \(reason)") == true, "\(error?.description ?? "")")
  }

  @Test("several plugins live in one host, each with its settings and state")
  func several() async throws {
    let host = try TestHost([TestPlugin(Hello.self), TestPlugin(Configured.self, settings: ["days": 1])])
    #expect(host.identifiers == [Hello.identifier, Configured.identifier])
    #expect(try await host.run(Configured.identifier).result == .success)
    #expect(try await host.run(Hello.identifier).log.count == 1)
  }

  @Test("an identifier that another plugin has, or that is not permitted, is refused")
  func identifiers() throws {
    let taken = #expect(throws: TestHostError.self) { try TestHost([TestPlugin(Hello.self), TestPlugin(Hello.self)]) }
    #expect(taken?.description.contains("is another plugin's") == true)
    var options = TestHostOptions()
    options.permittedIdentifiers = ["org.example.*"]
    let refused = #expect(throws: TestHostError.self) { try TestHost(Hello.self, options: options) }
    #expect(refused?.description.contains("is not in permitted_identifiers") == true)
  }

  @Test("a state and a checkpoint of an earlier run are given by the test")
  func earlier() async throws {
    let host = try TestHost.with { task in
      try task.setOutput([try task.state.value(Int.self, for: "count") ?? 0, try task.checkpoint.value(Int.self) ?? 0])
      return .success
    }
    try host.setState(41, for: "count")
    let request = try host.submit()
    try host.setCheckpoint(7, of: request.id)
    #expect(try await host.rerun(request.id).output(as: [Int].self) == [41, 7])
  }

  @Test("a report reads well in a failure")
  func description() async throws {
    let host = try TestHost.with { task in
      task.progress(3, of: 10)
      task.logger.warning("slow")
      try task.setOutput(["a": 1])
      try task.checkpoint.setValue(3)
      try task.submit(TaskRequest(identifier: task.identifier, json: ["n": 1], uniqueKey: "k", onConflict: .keep, conditions: .network))
      throw TaskFailure.temporary("the server is away", retryAfter: .seconds(90))
    }
    let run = try await host.run()
    #expect(
      run.description == """
        org.example.closure, attempt 1: retries after 90.0 seconds, 0.0 seconds after it began
          message: the server is away
          output: {"a":1}
          progress: 3 of 10 (1 reports)
          checkpoint: 3 (1 written)
          submitted: org.example.closure {"n":1}, key "k" (keep), conditions network
          log: warning: slow
        """)
  }

  @Test("what is not there is said to be so")
  func nothingThere() async throws {
    let host = try TestHost(Hello.self)
    let run = try await host.run()
    #expect(throws: TestHostError.self) { try run.output(as: Int.self) }
    #expect(throws: TestHostError.self) { try run.checkpoint(as: Int.self) }
    #expect(throws: TestHostError.self) { try host.state(as: Int.self, "none") }
    #expect(throws: TestHostError.self) { try host.request("none") }
    #expect(throws: TestHostError.self) { try host.launch("org.example.none") }
  }
}
