import CTaskHost
import FoundationEssentials
import Synchronization
import TaskHostSDK
import Testing

@Suite("Launch", .timeLimit(.minutes(10)))
struct LaunchTests {
  @Test("registers what the type says, and leaves out what it does not")
  func defaults() throws {
    let host = FakeHost()
    #expect(ClosureTask<NoPayload>.launch(on: host) { _ in .success } == TASKHOST_OK)
    let registered = try #require(host.lastRegistration)
    #expect(registered.identifier == "org.taskhost.tests.closure")
    #expect(registered.kind == TASKHOST_REFRESH)
    #expect(registered.budgetMilliseconds == 0)
    #expect(registered.maxConcurrentRuns == 4)
    #expect(registered.displayName == nil)
    #expect(registered.version == nil)
  }

  struct Configured: BackgroundTask {
    struct Settings: Decodable {
      struct Retention: Decodable { let days: Int }
      let retention: Retention
      let since: Date?
    }
    static let identifier = "org.taskhost.tests.configured"
    static var kind: TaskKind { .processing }
    static var displayName: String? { "Configured" }
    static var version: String? { "1.2" }
    static var budget: Duration? { .microseconds(1_500_300) }
    let days: Int
    let folder: String

    init(_ launch: LaunchContext<Settings>) throws {
      days = launch.settings.retention.days
      folder = launch.dataDirectory
      launch.log(.notice, "keeps \(days) days")
      try launch.submit(TaskRequest(identifier: Self.identifier, json: ["a": 1], uniqueKey: "daily", onConflict: .keep))
    }

    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
      task.setMessage("\(days) \(folder)")
      return .noop
    }
  }

  @Test("gives init the settings and the folder; log lines and requests reach the host")
  func configured() async throws {
    let host = FakeHost(settings: #"{"retention":{"days":7},"since":"2026-01-31T08:30:00Z"}"#)
    #expect(host.launch(Configured.self) == TASKHOST_OK)
    let registered = try #require(host.lastRegistration)
    #expect(registered.kind == TASKHOST_PROCESSING)
    #expect(registered.budgetMilliseconds == 1501)
    #expect(registered.displayName == "Configured")
    #expect(registered.version == "1.2")
    #expect(host.launchLog == [FakeLogLine(level: TASKHOST_NOTICE, text: "keeps 7 days")])
    let request = try #require(host.heldRequests.first)
    #expect(request.payload == #"{"a":1}"#)
    #expect(request.uniqueKey == "daily")
    #expect(request.onConflict == TASKHOST_CONFLICT_KEEP)
    let record = await (try host.start()).end()
    #expect(record.result == taskhost_result(TASKHOST_NOOP))
    #expect(record.message == "7 \(host.dataDirectory)")
  }

  @Test(
    "settings that do not decode refuse the launch and name the place",
    arguments: [
      (#"{}"#, "settings.retention: missing"),
      (#"{"retention":{"days":"x"}}"#, "settings.retention.days: "),
      (#"{"retention":{"days":null}}"#, "settings.retention.days: "),
      (#"{"retention":{"days":1},"since":"noon"}"#, "settings.since: not a date"),
      (#"{"retention""#, "settings: "),
    ])
  func badSettings(settings: String, place: String) throws {
    let host = FakeHost(settings: settings)
    #expect(host.launch(Configured.self) == TASKHOST_EINVAL)
    let line = try #require(host.launchLog.first)
    #expect(line.level == TASKHOST_ERROR)
    #expect(line.text.hasPrefix("org.taskhost.tests.configured: launch refused: \(place)"), "\(line.text)")
  }

  struct Refusing: BackgroundTask {
    struct NoDisk: Error, CustomStringConvertible { var description: String { "no disk at /mnt" } }
    static let identifier = "org.taskhost.tests.refusing"
    init(_ launch: LaunchContext<NoSettings>) throws { throw NoDisk() }
    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult { .success }
  }

  @Test("an init that throws refuses the launch with the error's description; a run then fails instead of crashing")
  func throwingInit() async throws {
    let host = FakeHost(settings: "not even JSON")
    #expect(host.launch(Refusing.self) == TASKHOST_EINVAL)
    #expect(host.launchLog.map(\.text) == ["org.taskhost.tests.refusing: launch refused: no disk at /mnt"])
    #expect(await (try host.start()).end().result == taskhost_result(TASKHOST_FAILURE))
  }

  struct Forbidden: BackgroundTask {
    static let identifier = "org.taskhost.tests.forbidden"
    init(_ launch: LaunchContext<NoSettings>) {}
    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult { .success }
  }

  @Test("a registration the host refuses answers the host's status, and no later call hides its reason")
  func refusedRegistration() throws {
    let host = FakeHost()
    #expect(host.launch(Forbidden.self) == TASKHOST_ENOTPERMITTED)
    #expect(host.launchLog.isEmpty)
    let reason = try #require(host.api.pointee.last_error())
    #expect(String(cString: reason) == "org.taskhost.tests.forbidden is not permitted")
  }

  struct OutOfRange: BackgroundTask {
    static let identifier = "org.taskhost.tests.range"
    static var budget: Duration? { .zero }
    init(_ launch: LaunchContext<NoSettings>) {}
    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult { .success }
  }

  @Test("a static property out of range is refused before anything is registered")
  func outOfRange() throws {
    let host = FakeHost()
    #expect(host.launch(OutOfRange.self) == TASKHOST_EINVAL)
    #expect(host.allRegistrations.isEmpty)
    #expect(try #require(host.launchLog.first).text.contains("its budget is 0.0 seconds"))
  }

  @Test("launched again: registers the same context, and the instance of the last success serves the runs")
  func again() async throws {
    let host = FakeHost()
    #expect(ClosureTask<NoPayload>.launch(on: host) { _ in .success } == TASKHOST_OK)
    #expect(ClosureTask<NoPayload>.launch(on: host) { _ in .noop } == TASKHOST_OK)
    #expect(host.launch(ClosureTask<NoPayload>.self) == TASKHOST_EINVAL)  // no body: its init throws
    #expect(Set(host.allRegistrations.map(\.context)).count == 1)
    #expect(await (try host.start()).end().result == taskhost_result(TASKHOST_NOOP))
  }

  @Test("a NULL table, a NULL function and an older host are refused without a call")
  func unusableTables() {
    #expect(TaskHostPlugin.launch(Forbidden.self, nil, 1) == TASKHOST_EINVAL)
    #expect(FakeHost { $0.abi_version = 0 }.launch(Forbidden.self) == TASKHOST_EUNSUPPORTED)
    #expect(FakeHost { $0.struct_size -= 8 }.launch(Forbidden.self) == TASKHOST_EUNSUPPORTED)
    #expect(FakeHost { $0.extension = nil }.launch(Forbidden.self) == TASKHOST_EINVAL)
  }

  @Test("a launch context kept after the launch is told so")
  func keptLaunchContext() async throws {
    let host = FakeHost()
    let kept = Mutex<LaunchContext<NoSettings>?>(nil)
    Keeper.keep.withLock { $0[host.dataDirectory] = { context in kept.withLock { $0 = context } } }
    #expect(host.launch(Keeper.self) == TASKHOST_OK)
    let context = try #require(kept.withLock { $0 })
    context.log(.info, "too late")
    #expect(host.launchLog.isEmpty)
    #expect(throws: TaskHostError(status: taskhost_status(TASKHOST_ELAUNCHED), message: "launch is over")) {
      try context.submit(TaskRequest(identifier: Keeper.identifier))
    }
  }

  struct Keeper: BackgroundTask {
    static let identifier = "org.taskhost.tests.keeper"
    static let keep = Mutex<[String: @Sendable (LaunchContext<NoSettings>) -> Void]>([:])
    init(_ launch: LaunchContext<NoSettings>) {
      Self.keep.withLock { $0.removeValue(forKey: launch.dataDirectory) }?(launch)
    }
    func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult { .success }
  }
}
