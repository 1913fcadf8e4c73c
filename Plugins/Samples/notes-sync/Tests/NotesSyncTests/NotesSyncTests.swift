import Foundation
import TaskHostSDK
import TaskHostTesting
import Testing

@testable import NotesSync

/// Tests the plugin without a host: time is virtual, and faults happen at the moment that the test names.
@Suite("Notes sync")
struct NotesSyncTests {
  private let host: TestHost
  private let data: String

  init() throws {
    host = try TestHost(NotesSync.self, settings: ["notes_per_run": 2, "quiet_ms": 2_000])
    data = try host.dataDirectory()
    try FileManager.default.createDirectory(atPath: data + "/notes", withIntermediateDirectories: true)
    for number in 1...5 { try write("note \(number)", to: "\(number).txt") }
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: data + "/notes/" + name, atomically: true, encoding: .utf8)
  }

  private func copy(_ name: String) -> String? { try? String(contentsOfFile: data + "/copies/" + name, encoding: .utf8) }

  @Test("a full pass takes as many runs as its budget makes it, and spends one attempt")
  func fullPass() async throws {
    let request = try await host.runUntilDone()
    #expect(request.state == .succeeded)
    #expect(request.runs.map(\.outcome) == [.snoozed, .snoozed, .succeeded])
    #expect(request.attempt == 1)
    for number in 1...5 { #expect(copy("\(number).txt") == "note \(number)") }
  }

  @Test("a process that dies before its checkpoint is written leaves a pass that is done again, to the same end")
  func crash() async throws {
    let crashed = try await host.run(interruptions: [.kill(at: .beforeCheckpoint(1))])
    #expect(crashed.outcome == .crashed)
    let request = try await host.runUntilDone(requestID: crashed.requestID)
    #expect(request.state == .succeeded)
    for number in 1...5 { #expect(copy("\(number).txt") == "note \(number)") }
  }

  @Test("while the disk is full the pass is retried, and ends when there is room again")
  func fullDisk() async throws {
    host.fillDisk(during: .zero..<Duration.seconds(10))
    let request = try await host.runUntilDone()
    #expect(request.state == .succeeded)
    #expect(request.runs.first?.outcome == .retried)
  }

  @Test("changes are gathered until it is quiet, and copied by one request")
  func changes() async throws {
    for number in [2, 4, 2] {
      #expect(try await host.run(payload: ["changed": ["\(number).txt"]]).outcome == .succeeded)
      try await host.advance(by: .seconds(1))
    }
    let drain = try #require(try await host.runNext())
    #expect(drain.outcome == .succeeded)
    #expect(drain.started == .seconds(4), "two seconds after the last change")
    #expect(copy("2.txt") == "note 2")
    #expect(copy("4.txt") == "note 4")
    #expect(copy("1.txt") == nil)
    #expect(try await host.runNext() == nil)
  }
}
