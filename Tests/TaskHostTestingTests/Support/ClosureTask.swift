import Synchronization
import TaskHostSDK
import TaskHostTesting

/// The kind of a ``ClosureTask``.
protocol TaskKindTag: Sendable { static var kind: TaskKind { get } }

enum Refresh: TaskKindTag { static var kind: TaskKind { .refresh } }
enum Processing: TaskKindTag { static var kind: TaskKind { .processing } }
enum Continued: TaskKindTag { static var kind: TaskKind { .continued } }

/// A plugin whose body a test gives.
struct ClosureTask<Tag: TaskKindTag>: BackgroundTask {
  typealias Body = @Sendable (TaskContext<NoPayload>) async throws -> TaskResult

  struct Settings: Codable {
    let body: Int
  }

  static var identifier: String { "org.example.closure" }
  static var kind: TaskKind { Tag.kind }
  static var maxConcurrentRuns: Int { 4 }

  private let body: Body

  init(_ launch: LaunchContext<Settings>) throws {
    guard let body = bodies.withLock({ $0[launch.settings.body] }) as? Body else { throw TaskFailure.permanent("no body") }
    self.body = body
  }

  func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult { try await body(task) }
}

private let bodies = Mutex<[Int: any Sendable]>([:])

extension TestHost {
  /// A host whose one plugin has that body.
  static func with<Tag: TaskKindTag>(
    _ tag: Tag.Type = Processing.self, options: TestHostOptions = TestHostOptions(), _ body: @escaping ClosureTask<Tag>.Body
  ) throws -> TestHost {
    let number = bodies.withLock { bodies in
      bodies[bodies.count] = body
      return bodies.count - 1
    }
    return try TestHost(ClosureTask<Tag>.self, settings: ["body": number], options: options)
  }
}
