import Foundation
import Glibc
import TaskHostSDK
import TaskHostTesting
import Testing

/// A plugin's transfers, through the real runtime; the test says what arrives.
@Suite("Transfers of runs", .timeLimit(.minutes(10)))
struct TransferTests {
  struct Gallery: BackgroundTask {
    struct Payload: Codable {
      var steps: String
      var folder = ""
      var id = ""
    }

    static let identifier = "org.example.gallery"

    init(_ launch: LaunchContext<NoSettings>) {}

    func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
      let (folder, transfers) = (task.payload.folder, task.transfers)
      switch task.payload.steps {
      case "submit":
        var options = TransferOptions()
        options.isDiscretionary = true
        options.headers = ["X-A": "b"]
        try task.setOutput([
          transfers.submit(
            [
              .download("https://example.org/1", to: folder + "/1"), .download("https://example.org/2", to: folder + "/2"),
              .upload(folder + "/up", to: "https://example.org/in"),
            ], options: options
          ).requestID
        ])
      case "quiet":
        var options = TransferOptions()
        options.launchesHandler = false
        try transfers.download("https://example.org/1", to: folder + "/1", options: options)
      case "pause": try transfers.pause(task.payload.id)
      case "resume": try transfers.resume(task.payload.id)
      case "cancel": try transfers.cancel(task.payload.id)
      case "list":
        let list = try transfers.list()
        try task.setOutput(list.map { "\($0.id) \($0.state.rawValue) \($0.isPaused) \($0.items.map { $0.path ?? "-" }.sorted())" })
      default: return .failure
      }
      return .success
    }

    func transfersEnded(_ completion: TransferCompletion, _ task: TaskContext<NoPayload>) async throws -> TaskResult {
      try task.setOutput(completion.items.map { "\($0.url) \($0.path) \($0.problem ?? "ok")" })
      return completion.isSuccess ? .success : .failure
    }
  }

  private func host() throws -> TestHost {
    var options = TestHostOptions()
    options.mayTransfer = true
    return try TestHost(Gallery.self, options: options)
  }

  private func steps(_ steps: String, _ folder: String = "", id: String = "") -> Gallery.Payload {
    Gallery.Payload(steps: steps, folder: folder, id: id)
  }

  @Test("when all files of a batch have ended, one run gets the report, and finds the downloads in their places")
  func completion() async throws {
    let host = try host()
    let folder = try host.dataDirectory()
    try Data("up".utf8).write(to: URL(filePath: folder + "/up"))
    #expect(try await host.run(payload: steps("submit", folder)).result == .success)
    let transfer = try #require(host.transfers.first)
    #expect(transfer.request.conditions == [.network, .unmetered, .power] && transfer.state == "pending" && transfer.items.count == 3)
    #expect(transfer.items.allSatisfy { !$0.file.hasPrefix(folder) }, "it arrives outside of the plugin's own folder")
    try FileManager.default.removeItem(atPath: folder + "/up")
    let wake = try #require(
      try host.completeTransfer(transfer.id, contents: ["https://example.org/1": Array("one".utf8), "https://example.org/2": [2]]))
    #expect(!FileManager.default.fileExists(atPath: folder + "/1"), "the plugin has not run yet")
    let run = try await host.launch(requestID: wake.id).ended()
    #expect(run.result == .success)
    let told = try JSONDecoder().decode([String].self, from: Data(run.output ?? []))
    #expect(
      told == [
        "https://example.org/1 \(folder)/1 ok", "https://example.org/2 \(folder)/2 ok", "https://example.org/in \(folder)/up ok",
      ])
    #expect(try Data(contentsOf: URL(filePath: folder + "/1")) == Data("one".utf8))
    #expect(transfer.items.allSatisfy { !FileManager.default.fileExists(atPath: $0.file) }, "nothing is left in the folder for transfers")
    #expect(host.transfers.first?.state == "succeeded")
  }

  /// Whether the folder for transfers and this one are on two file systems.
  private static let hasOtherFileSystem: Bool = {
    var (here, there) = (stat(), stat())
    return stat(NSTemporaryDirectory(), &here) == 0 && stat("/dev/shm", &there) == 0 && access("/dev/shm", W_OK) == 0
      && here.st_dev != there.st_dev
  }()

  @Test(
    "a download whose place is on another file system is copied and replaces what is there; an upload from there is a copy",
    .enabled(if: hasOtherFileSystem))
  func otherFileSystem() async throws {
    let host = try host()
    let folder = "/dev/shm/taskhost-transfers-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("up".utf8).write(to: URL(filePath: folder + "/up"))
    try Data("old".utf8).write(to: URL(filePath: folder + "/1"))
    // What a copy has left that was cut short is not an obstacle.
    try Data("torn".utf8).write(to: URL(filePath: folder + "/1.taskhost-part"))
    #expect(try await host.run(payload: steps("submit", folder)).result == .success)
    let transfer = try #require(host.transfers.first)
    var (source, copy) = (stat(), stat())
    let staged = try #require(transfer.items.last?.file)
    #expect(stat(folder + "/up", &source) == 0 && stat(staged, &copy) == 0 && source.st_dev != copy.st_dev)
    #expect(try Data(contentsOf: URL(filePath: staged)) == Data("up".utf8))
    let large = [UInt8](repeating: 7, count: 3_000_000)
    let wake = try #require(
      try host.completeTransfer(transfer.id, contents: ["https://example.org/1": large, "https://example.org/2": [2]]))
    #expect(try await host.launch(requestID: wake.id).ended().result == .success)
    #expect(try Data(contentsOf: URL(filePath: folder + "/1")) == Data(large))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["1", "2", "up"])
    #expect(transfer.items.allSatisfy { !FileManager.default.fileExists(atPath: $0.file) }, "nothing is left in the folder for transfers")
  }

  @Test("a file that failed is named with its problem; the others are in their places")
  func failures() async throws {
    let host = try host()
    let folder = try host.dataDirectory()
    try Data("up".utf8).write(to: URL(filePath: folder + "/up"))
    try await host.run(payload: steps("submit", folder))
    let id = try #require(host.transfers.first?.id)
    let wake = try #require(try host.completeTransfer(id, failing: ["https://example.org/2": "the server answered 404"]))
    let run = try await host.launch(requestID: wake.id).ended()
    #expect(run.result == .failure)
    let told = try JSONDecoder().decode([String].self, from: Data(run.output ?? []))
    #expect(told[1] == "https://example.org/2 \(folder)/2 the server answered 404")
    #expect(FileManager.default.fileExists(atPath: folder + "/1") && !FileManager.default.fileExists(atPath: folder + "/2"))
  }

  @Test("a file that failed without a place in the report's list has failed, although an older file is where it was to go")
  func unlisted() async throws {
    let host = try host()
    let folder = try host.dataDirectory()
    try Data("up".utf8).write(to: URL(filePath: folder + "/up"))
    try await host.run(payload: steps("submit", folder))
    let id = try #require(host.transfers.first?.id)
    try Data("old".utf8).write(to: URL(filePath: folder + "/2"))
    let run = try await host.run(payload: Array("{\"transfer\":\"\(id)\",\"done\":1,\"failed\":2,\"items\":[],\"unlisted\":[0,1]}".utf8))
    #expect(run.result == .failure)
    let told = try JSONDecoder().decode([String].self, from: Data(run.output ?? []))
    #expect(told.prefix(2).allSatisfy { $0.contains("it failed") } && told[2].hasSuffix("ok"), "\(told)")
  }

  @Test("it lists, pauses, resumes and cancels; one that is paused does not proceed, and one without a handler wakes nobody")
  func changes() async throws {
    let host = try host()
    let folder = try host.dataDirectory()
    try await host.run(payload: steps("quiet", folder))
    let id = try #require(host.transfers.first?.id)
    try await host.run(payload: steps("pause", id: id))
    let listed = try await host.run(payload: steps("list"))
    #expect(try JSONDecoder().decode([String].self, from: Data(listed.output ?? [])) == ["\(id) pending true [\"\(folder)/1\"]"])
    #expect(throws: TestHostError.self) { try host.completeTransfer(id) }
    try await host.run(payload: steps("resume", id: id))
    #expect(try host.completeTransfer(id) == nil)
    try await host.run(payload: steps("quiet", folder))
    let other = try #require(host.transfers.last?.id)
    try await host.run(payload: steps("cancel", id: other))
    #expect(host.transfers.map(\.state) == ["succeeded", "cancelled"])
  }

  @Test("without the operator's permission nothing is transferred")
  func notPermitted() async throws {
    let host = try TestHost(Gallery.self)
    let run = try await host.run(payload: steps("quiet", "/tmp"))
    #expect(run.result != .success && run.message?.contains("mayTransfer") == true, "\(run)")
    #expect(host.transfers.isEmpty)
  }

  @Test("a payload that only looks like a report is the handler's own")
  func lookalike() async throws {
    let host = try host()
    let payload = "{\"transfer\":\"01976c1e-0000-7000-8000-000000000000\",\"done\":1,\"failed\":0,\"items\":[],\"steps\":\"list\"}"
    let run = try await host.run(payload: Array(payload.utf8))
    #expect(run.result != .success, "its own payload lacks members, so it does not decode: \(run)")
  }
}
