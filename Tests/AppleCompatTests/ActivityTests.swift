import AppleCompat
import CTaskHost
import Foundation
import Synchronization
import TaskHostSDK
import TaskHostTesting
import Testing

/// Foundation's activities as execution assertions, through the real runtime on the virtual clock.
@Suite("Apple's activities", .timeLimit(.minutes(10)))
struct ActivityTests {
  struct Saver: BackgroundTask {
    struct Payload: Codable { var steps: String }

    static let identifier = "org.example.activity"
    static var kind: TaskKind { .processing }

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      let process = ProcessInfo.processInfo
      switch task.payload.steps {
      case "expiring":
        let calls = await withCheckedContinuation { continuation in
          process.performExpiringActivity(withReason: "saving") { isExpired in continuation.resume(returning: isExpired) }
        }
        task.setMessage("\(calls)")
      case "user":
        let activity = process.beginActivity(options: .userInitiated, reason: "export")
        try await task.sleep(for: .seconds(5))
        process.endActivity(activity)
        process.endActivity(activity)
        process.endActivity(NSObject())
      case "background":
        process.performActivity(options: .background, reason: "nothing") {}
      case "long":
        process.performActivity(options: .suddenTerminationDisabled, reason: String(repeating: "ü", count: 2000)) {}
      case "power":
        task.setMessage("\(process.isLowPowerModeEnabled)")
      default:
        task.setMessage(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.x")?.path() ?? "none")
      }
      return .success
    }
  }

  private func run(_ steps: String, on host: TestHost? = nil) async throws -> RunReport {
    try await (try host ?? TestHost(Saver.self)).run(payload: Saver.Payload(steps: steps))
  }

  @Test("performExpiringActivity takes an assertion of 30 s with its reason, and gives it back")
  func expiring() async throws {
    let run = try await run("expiring")
    #expect(run.message == "false")
    let assertion = try #require(run.assertions.first)
    #expect(assertion.reason == "saving" && assertion.name == Saver.identifier && assertion.length == .seconds(30))
  }

  @Test("performExpiringActivity without an assertion is told so at once")
  func refused() async throws {
    let host = try TestHost(Saver.self)
    host.fail(.assertion, with: taskhost_status(TASKHOST_EUNAVAILABLE))
    let run = try await run("expiring", on: host)
    #expect(run.message == "true" && run.assertions.isEmpty)
  }

  @Test("an activity of the user holds an assertion until it ends, one in the background holds none")
  func activities() async throws {
    let user = try await run("user")
    #expect(user.assertions.map(\.ending) == [.given] && user.assertions.first?.ended == .seconds(5))
    #expect(try await run("background").assertions.isEmpty)
    let long = try await run("long")
    #expect(long.assertions.first?.reason?.count == 500)
  }

  @Test("low power mode is on while the battery is low")
  func power() async throws {
    let host = try TestHost(Saver.self)
    #expect(try await run("power", on: host).message == "false")
    host.lose(.batteryNotLow)
    #expect(try await run("power", on: host).message == "true")
  }

  @Test("the container of any group is the plugin's own folder")
  func container() async throws {
    let host = try TestHost(Saver.self)
    let run = try await run("container", on: host)
    #expect(run.message?.hasPrefix("/") == true && run.message?.hasSuffix("/") == true, "\(run)")
  }
}
