import TaskHostSDK
import TaskHostTesting
import XCTest

/// The kit from XCTest: nothing of it depends on the framework.
final class TestHostXCTests: XCTestCase {
  struct Backup: BackgroundTask {
    struct Settings: Decodable { let target: String }
    struct Payload: Decodable { let files: [String] }

    static let identifier = "org.example.backup"
    static var kind: TaskKind { .processing }
    let target: String

    init(_ launch: LaunchContext<Settings>) { target = launch.settings.target }

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      for (index, file) in task.payload.files.enumerated() {
        try await task.sleep(for: .seconds(120))
        task.logger.info("\(file) to \(target)")
        task.progress(UInt64(index + 1), of: UInt64(task.payload.files.count))
      }
      try task.setOutput(["copied": task.payload.files.count])
      return .success
    }
  }

  private var host: TestHost?

  override func setUp() async throws {
    host = try TestHost(Backup.self, settings: ["target": "/backup"])
  }

  /// XCTest keeps its test cases to the end of the process, and with them what they hold.
  override func tearDown() async throws {
    host = nil
  }

  func testCopiesEveryFile() async throws {
    let host = try XCTUnwrap(host)
    let run = try await host.run(payload: ["files": ["a", "b"]])
    XCTAssertEqual(run.result, .success, "\(run)")
    XCTAssertEqual(try run.output(as: [String: Int].self), ["copied": 2])
    XCTAssertEqual(run.log.map(\.message), ["a to /backup", "b to /backup"])
    XCTAssertEqual(run.duration, .seconds(240))
  }

  func testStopsWhenItsBudgetIsSpent() async throws {
    let host = try XCTUnwrap(host)
    let run = try await host.run(payload: ["files": ["a", "b", "c", "d", "e", "f"]])
    XCTAssertEqual(run.outcome, .retried)
    XCTAssertEqual(run.stopReason, .budget)
    XCTAssertEqual(run.progress.last?.completed, 4)
  }

  func testAMalformedPayloadFails() async throws {
    let host = try XCTUnwrap(host)
    let run = try await host.run(payload: .json(#"{"files": "a"}"#))
    XCTAssertEqual(run.outcome, .failed)
    XCTAssertTrue(run.message?.hasPrefix("payload.files: ") == true, "\(run)")
  }
}
