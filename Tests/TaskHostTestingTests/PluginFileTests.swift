import CTaskHost
import Foundation
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Built plugins", .timeLimit(.minutes(10)))
struct PluginFileTests {
  private func stepper(_ definitions: [String] = [], options: TestHostOptions = TestHostOptions()) throws -> TestHost {
    try TestHost(plugin: CompiledPlugin.path("Testing/stepper", definitions), options: options)
  }

  @Test("a file's handler sleeps on the virtual clock")
  func sleeps() async throws {
    let host = try stepper()
    #expect(host.identifiers == ["org.example.stepper"])
    let run = try await host.run(payload: Array("10 2500".utf8))
    #expect(run.result == .success)
    #expect(run.duration == .seconds(25))
    #expect(run.progress.last == RunProgress(time: .milliseconds(22_500), completed: 10, total: 10))
    #expect(run.checkpoints.map { $0.first } == (1...10).map { UInt8($0) })
  }

  @Test("a file's expiration handler is called at the moment, and clearing it says so")
  func expires() async throws {
    let host = try stepper()
    let run = try await host.run(payload: Array("8 7000".utf8))
    #expect(run.result == .snooze())
    #expect(run.expiredAfter == .seconds(30))
    #expect(run.log.map(\.description) == ["notice: told to stop: 1, 5000 ms left"])
    let request = try await host.runUntilDone(requestID: run.requestID)
    #expect(request.state == .succeeded)
    #expect(request.runs.map(\.checkpoints.count) == [5, 3])
    #expect(request.runs.map(\.started) == [.zero, .seconds(31)])
  }

  @Test("a file's handler that ignores its expiration is stopped by force at the end of its grace")
  func ignores() async throws {
    let host = try stepper(["IGNORES"])
    let run = try await host.run(payload: Array("10 7000".utf8))
    #expect(run.ending == .forced)
    #expect(run.duration == .seconds(35))
  }

  @Test("a killed file has new global variables, and its checkpoint")
  func killed() async throws {
    let host = try stepper()
    let first = try await host.run(payload: Array("5 100".utf8))
    #expect(first.output == Array("1".utf8))
    let second = try await host.run(payload: Array("5 100".utf8), interruptions: [.kill(at: .checkpoint(2))])
    #expect(second.output == Array("2".utf8))
    let third = try await host.rerun(second)
    #expect(third.output == Array("1".utf8))
    #expect(third.checkpoints.count == 3)
    try await host.shutdown()
  }

  @Test("two hosts with one file do not meet in its global variables")
  func apart() async throws {
    for host in [try stepper(), try stepper()] {
      #expect(try await host.run(payload: Array("1 0".utf8)).output == Array("1".utf8))
    }
  }

  @Test("a full disk is a file's too")
  func fullDisk() async throws {
    let host = try stepper()
    host.fillDisk(fromCall: 4)
    let run = try await host.run(payload: Array("5 1000".utf8))
    #expect(run.result == .retry())
    #expect(run.log.map(\.message) == ["the store is full"])
  }

  @Test("a handler whose threads sleep, while it joins them, counts as asleep where the test says so")
  func joins() async throws {
    var options = TestHostOptions()
    options.handlersWaitForTheirThreads = true
    let run = try await stepper(["JOINS"], options: options).run(payload: Array("3 5000".utf8))
    #expect(run.result == .success)
    #expect(run.duration == .seconds(15))
  }

  @Test("a handler that waits for its descriptor is told by the test")
  func polls() async throws {
    let host = try stepper(["POLLS"])
    let run = try host.launch()
    try await host.advance(by: .seconds(31), waitingForHandlers: false)
    #expect(try await run.ended().result == .snooze())
    #expect(run.report.expiredAfter == .seconds(30))
  }

  @Test("a handler that blocks is told of by the watchdog, with what to do")
  func blocks() async throws {
    var options = TestHostOptions()
    options.watchdog = .seconds(2)
    let host = try stepper(["POLLS"], options: options)
    let run = try host.launch()
    let error = await #expect(throws: TestHostError.self) { try await run.ended() }
    #expect(error?.description.contains("waits for something that is not on the clock: a lock, a socket, poll()") == true)
    run.expire()
    #expect(try await run.ended().result == .snooze())
  }

  @Test("siblings see, submit and cancel each other's requests; what a launch submits and cancels is carried out in order")
  func siblings() async throws {
    let host = try TestHost(plugin: CompiledPlugin.path("Testing/siblings"))
    #expect(host.identifiers == ["org.example.first", "org.example.second"])
    #expect(host.requests.map(\.state) == [.cancelled, .pending])
    #expect(host.pendingRequests.map { String(decoding: $0.payload, as: UTF8.self) } == ["kept"])
    let run = try await host.run("org.example.second", payload: Array("use".utf8))
    #expect(run.result == .success, "\(run)")
    #expect(run.submissions.map(\.identifier) == ["org.example.first", "org.example.second", "org.example.second"])
    #expect(run.cancellations.count == 4)
    #expect(host.pendingRequests.isEmpty)
  }

  @Test("a file that registers more than it says is refused")
  func tooMany() throws {
    let error = #expect(throws: TestHostError.self) { try TestHost(plugin: CompiledPlugin.path("Testing/siblings", ["THREE"])) }
    #expect(error?.description == "the launch was refused (-3): it registered twice: a second handler: a plugin registers at most 2")
  }

  @Test("what is no plugin is refused with a reason")
  func noPlugin() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = folder.appending(path: "text.so").path
    try Data("no plugin".utf8).write(to: URL(fileURLWithPath: text))
    for path in [text, folder.path, "/nowhere/lib.so"] {
      let error = #expect(throws: TestHostError.self) { try TestHost(plugin: path) }
      #expect(error?.description.contains(path == text ? "text.so" : path) == true)
    }
  }
}
