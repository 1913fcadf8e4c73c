import TestSupport
import Foundation
import LauncherConformance
import Testing
import WorkerProcesses

@Suite("A host of workers") struct HostTests {
  @Test("its death is the death of its workers and of their children", arguments: [SIGKILL, SIGSEGV, SIGTERM])
  func death(_ signal: Int32) async throws {
    let scene = try HostScene("hold")
    let worker = try ProcessWatch(try number(await scene.line(), after: "worker"))
    let child = try ProcessWatch(try number(await scene.line(), after: "child"))
    scene.kill(signal)
    try await worker.ended(within: 10, "the worker of a dead host")
    try await child.ended(within: 10, "the child of a dead host's worker")
  }

  /// The first count may hold the last descriptors of a worker that was just reaped, so it may be the larger one. What 200 workers leave
  /// behind is more than that.
  @Test("it has no more descriptors after 200 workers than before") func descriptors() async throws {
    let lines = try await HostScene("descriptors").lines()
    let words = try #require(lines.last).split(separator: " ")
    #expect(words.count == 4, "\(lines)")
    #expect(words.first == "before")
    let before = try #require(words.dropFirst().first.flatMap { Int($0) }, "\(lines)")
    let after = try #require(words.last.flatMap { Int($0) }, "\(lines)")
    #expect(after <= before, "\(lines)")
  }

  @Test("without a descriptor left it starts no worker: runs are given back, and it goes on when there is one")
  func limit() async throws {
    let lines = try await HostScene("limit").lines()
    let failed = lines.dropLast()
    #expect(failed.count >= 3, "\(lines)")
    for line in failed {
      #expect(line.contains("given back: its worker could not be started"), "\(line)")
      #expect(line.contains("raise the limit of descriptors"), "\(line)")
    }
    #expect(lines.last?.contains("success") == true, "\(lines)")
  }

  @Test("that somebody else takes its children's ends holds up nothing") func reaped() async throws {
    let lines = try await HostScene("reaped").lines()
    #expect(lines.count == 7, "\(lines)")
    #expect(lines.first == "crash: crashed")
    #expect(lines.dropFirst(2).first?.hasPrefix("pid: succeeded") == true, "\(lines)")
    #expect(lines.contains("cpu 0 s"), "\(lines)")
    #expect(lines.last == "left 0")
  }

  private func number(_ line: String, after word: String) throws -> pid_t {
    let words = line.split(separator: " ")
    guard words.count == 2, words[0] == word, let number = pid_t(words[1]) else { throw TestFailure(line) }
    return number
  }
}
