import Synchronization

@testable import TaskHostSDK

/// A plugin whose body a test gives: ``launched(on:_:)`` puts it where `init` finds it by the host's data directory.
struct ClosureTask<Payload: Decodable & Sendable>: BackgroundTask {
  typealias Body = @Sendable (TaskContext<Payload>) async throws -> TaskResult

  static var identifier: String { "org.taskhost.tests.closure" }
  static var maxConcurrentRuns: Int { 4 }

  private let body: Body

  init(_ launch: LaunchContext<NoSettings>) throws {
    guard let body = bodies.withLock({ $0[launch.dataDirectory] }) as? Body else { throw TaskFailure.permanent("no body") }
    self.body = body
  }

  func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
    try await body(task)
  }

  /// Launches `body` as a plugin on `host`.
  static func launch(on host: FakeHost, _ body: @escaping Body) -> taskhost_status {
    bodies.withLock { $0[host.dataDirectory] = body }
    defer { bodies.withLock { $0[host.dataDirectory] = nil } }
    return host.launch(Self.self)
  }
}

private let bodies = Mutex<[String: any Sendable]>([:])
