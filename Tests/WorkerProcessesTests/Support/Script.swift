import Foundation
import LauncherConformance
import TaskModel
import WorkerLink
import WorkerProcesses

/// What `scripted_worker` does in the place of a worker.
struct Script {
  private var bytes: [UInt8] = []

  /// The plugin that the script pretends to have loaded.
  static let registration = HandlerRegistration(
    identifier: HandlerContract.scripted.identifier, kind: .processing, maxConcurrentRuns: 4)

  /// It reads the boot message, says that it is confined, and asks whether its plugin may have its identifier.
  static var launching: Script {
    var script = Script()
    script.receive()
    script.send(.confined(missing: []))
    script.send(.call(number: 0, .admit(registration.identifier)))
    script.receive()
    return script
  }

  /// The same, and says that its plugin has launched.
  static var launched: Script {
    var script = launching
    script.send(.launched(LaunchReport(registrations: [registration])))
    return script
  }

  mutating func receive(_ count: Int = 1) { for _ in 0..<count { step("R", []) } }
  mutating func send(_ message: WorkerMessage) { step("S", message.encode().bytes) }
  mutating func send(_ raw: [UInt8]) { step("S", raw) }
  mutating func sendForEver(_ message: WorkerMessage) { step("F", message.encode().bytes) }
  mutating func wait(milliseconds: UInt32) { withUnsafeBytes(of: milliseconds.littleEndian) { step("W", Array($0)) } }
  mutating func tellDescriptors() { step("E", []) }
  mutating func exit() { step("X", []) }

  private mutating func step(_ letter: Character, _ content: [UInt8]) {
    bytes.append(letter.asciiValue ?? 0)
    withUnsafeBytes(of: UInt32(content.count).littleEndian) { bytes.append(contentsOf: $0) }
    bytes += content
  }

  /// What a worker that follows it is started with.
  func spec(budget: Duration = .seconds(30)) async throws -> WorkerSpec {
    let file = TestFolder.newFile()
    try Data(bytes).write(to: URL(filePath: file))
    return WorkerSpec(
      executable: try await CompiledFixtures.program("scripted_worker"), name: "scripted", confinement: Confinement(plugin: "/nonexistent"),
      identifier: nil, launchBudget: budget, environment: ["SCRIPT=\(file)"],
      idleTime: .seconds(600))
  }
}

extension HandlerContract {
  /// The contract of the plugin that a script pretends to have loaded.
  static var scripted: HandlerContract {
    guard let identifier = try? TaskIdentifier("test.scripted") else { preconditionFailure("test.scripted is an identifier") }
    return HandlerContract(identifier: identifier, kind: .processing, budget: nil, grace: .seconds(600), maxConcurrentRuns: 4)
  }
}
