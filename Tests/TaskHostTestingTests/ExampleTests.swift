import Glibc
import TaskHostSDK
import TaskHostTesting
import Testing

/// The examples of Documentation/testing-plugins.md.
@Suite("Examples of the page about testing", .timeLimit(.minutes(10)))
struct ExampleTests {
  /// Uploads files, a minute each.
  struct Uploader: BackgroundTask {
    struct Settings: Decodable { let server: String }
    struct Payload: Decodable { let files: [String] }

    static let identifier = "org.example.uploader"
    static var kind: TaskKind { .processing }
    let server: String

    init(_ launch: LaunchContext<Settings>) { server = launch.settings.server }

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      let files = task.payload.files
      for index in (try task.checkpoint.value(Int.self) ?? 0)..<files.count {
        guard !task.isExpired else { return .snooze() }
        guard isReachable else { throw TaskFailure.temporary("\(server) is away", retryAfter: .seconds(60)) }
        do { try await task.sleep(for: .seconds(60)) } catch { return .snooze() }
        task.progress(UInt64(index + 1), of: UInt64(files.count))
        try task.checkpoint.setValue(index + 1)
      }
      try task.setOutput(["uploaded": files.count])
      return .success
    }

    /// Whether a connection is made; the port of the examples, 8080, counts as reachable without one.
    private var isReachable: Bool {
      guard let port = server.split(separator: ":").last.flatMap({ UInt16($0) }), port != 8080 else { return true }
      let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
      }
    }
  }

  private let settings = ["server": "http://127.0.0.1:8080"]

  @Test("a first test") func uploadsEveryFile() async throws {
    let host = try TestHost(Uploader.self, settings: ["server": "http://127.0.0.1:8080"])
    let run = try await host.run(payload: ["files": ["a.jpg", "b.jpg"]])
    #expect(run.result == .success, "\(run)")
    #expect(try run.output(as: [String: Int].self) == ["uploaded": 2])
    #expect(run.progress.last?.completed == 2)
  }

  @Test("time") func time() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    let run = try host.launch(payload: ["files": ["a.jpg", "b.jpg", "c.jpg"]])
    try await host.advance(by: .seconds(90))
    #expect(run.report.progress.map(\.completed) == [1])
    #expect(try await run.ended().duration == .seconds(180))
  }

  @Test("stopping a run at a time") func stopping() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    let run = try host.launch(payload: ["files": ["a.jpg", "b.jpg", "c.jpg"]])
    run.expire(.budget, at: .seconds(100))
    let report = try await run.ended()
    #expect(report.result == .snooze())
    #expect(report.progress.last?.completed == 1)
  }

  @Test("stopping a run where it is") func stoppingThere() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    let run = try await host.run(
      payload: ["files": ["a.jpg", "b.jpg", "c.jpg"]], interruptions: [.expire(.conditions, at: .checkpoint(2))])
    #expect(run.outcome == .stopped)
    #expect(try run.checkpoint(as: Int.self) == 2)
  }

  @Test("killing a run") func killing() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    let files = ["files": ["a.jpg", "b.jpg"]]
    let first = try await host.run(payload: files, interruptions: [.kill(at: .checkpoint(1))])
    #expect(first.outcome == .crashed)
    let second = try await host.rerun(first)
    #expect(second.attempt == 2)
    #expect(second.result == .success)
  }

  @Test("snoozes") func snoozes() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    let files = ["files": (1...12).map { "\($0).jpg" }]
    let request = try await host.runUntilDone(payload: files)
    #expect(request.state == .succeeded)
    #expect(request.runs.map(\.started) == [.zero, .seconds(601)])
  }

  @Test("a week of a nightly request") func nightly() async throws {
    let host = try TestHost(Uploader.self, settings: settings)
    var nightly = try TestRequest(payload: ["files": ["a.jpg"]])
    nightly.repetition = .cron("0 3 * * *", timeZone: "Europe/Berlin")
    try host.submit(nightly)
    let runs = try await host.runDue(for: .seconds(7 * 86_400))
    #expect(runs.count == 7)
  }

  @Test("an idle stage") func idleStage() async throws {
    var options = TestHostOptions()
    options.profile = .phone
    let host = try TestHost(Uploader.self, settings: settings, options: options)
    try host.enter(.deepIdle)
    try host.submit(payload: ["files": ["a.jpg"]])
    #expect(try await host.runNext()?.started == .seconds(3600))
    host.restore(.power)
  }

  @Test("a lost network") func lostNetwork() async throws {
    let server = try FaultyServer(.refusing)
    let host = try TestHost(Uploader.self, settings: ["server": server.url])
    let run = try await host.run(payload: ["files": ["a.jpg"]])
    #expect(run.result == .retry(after: .seconds(60)))
  }

  @Test("state") func state() async throws {
    let host = try TestHost.with { task in
      var sync = try task.state.value([String: Int].self, for: "sync") ?? [:]
      sync["cursor", default: 0] += 1
      try task.state.setValue(sync, for: "sync")
      return .success
    }
    try host.setState(["cursor": 41], for: "sync")
    let run = try await host.run()
    #expect(try host.state(as: [String: Int].self, "sync") == ["cursor": 42])
    #expect(run.stateWrites == 1)
  }

  @Test("a built plugin") func built() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Testing/stepper"), settings: ["server": "http://127.0.0.1:8080"])
    let run = try await host.run(payload: Array("10 2500".utf8))
    #expect(run.result == .success)
  }
}
