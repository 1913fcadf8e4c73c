import Foundation
import Glibc
import TestSupport
import Testing

/// Holding transfers back, by the command line and over HTTP.
@Suite("Paused transfers", .timeLimit(.minutes(10)))
struct TransferPauseTests {
  private func withServer(_ body: (HostProcess, RangeServer) async throws -> Void) async throws {
    let server = try await RangeServer.start()
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      try host.directory.folder("files")
      try host.configure(
        """
        [plugin."org.taskhost.transfers".entitlements]
        network = "connect"
        write = ["\(host.directory("files"))"]

        """)
      try await host.start()
      try await body(host, server)
    }
    await server.stop()
  }

  private func names(_ host: HostProcess) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: host.directory("files")).sorted()
  }

  @Test("a pause stops a download in mid-file without an attempt, holds over kill -9, and a resumption asks for the rest")
  func stopsAndGoesOn() async throws {
    try await withServer { host, server in
      let url = "\(server.address)/a?size=3000000&hold=1500000"
      let submitted = try await host.cli("transfers", "submit", url, "--to", host.directory("files/a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await host.progress(of: id, reaches: 1_500_000)
      let paused = try await host.cli("transfers", "pause", id, "--why", "the line is slow")
      #expect(paused.status == 0 && paused.output == "\(id) asked to stop\n", "\(paused)")
      let record = try await host.request(id, is: "pending")
      #expect(record["attempts_spent"]?.integer == 0 && record["paused"]?["why"]?.string == "the line is slow", "\(record)")
      let run = try #require(try await host.runs(of: id).first)
      #expect(run["outcome"]?.string == "stopped", "\(run)")
      let left = try names(host)
      #expect(left.count == 2 && left.allSatisfy { $0.hasPrefix(".a.") }, "\(left)")
      let why = try await host.cli("tasks", "why", id)
      #expect(why.output.contains("user \(geteuid())): the line is slow"), "\(why)")
      let launched = try await host.cli("simulate", "launch", "org.taskhost.transfers")
      #expect(launched.status == 6 && launched.errors.contains("is paused: taskhost transfers resume \(id)"), "\(launched)")
      let listed = try await host.cli("transfers", "list")
      #expect(listed.output.contains("paused") && listed.output.contains(host.directory("files/a")), "\(listed)")
      let shown = try await host.json("transfers", "show", id)
      #expect(shown["bytes"]?.integer == 1_500_000 && shown["payload"]?["url"]?.string == url, "\(shown)")

      await host.kill()
      _ = try await server.get("/release/a")
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["paused"]?["by"]?.string?.contains("user \(geteuid())") == true)
      let resumed = try await host.cli("transfers", "resume", id)
      #expect(resumed.status == 0, "\(resumed)")
      try await host.request(id, is: "succeeded")
      let found = FileManager.default.contents(atPath: host.directory("files/a"))
      let expected = Data(try await server.get("/a?size=3000000"))
      #expect(found == expected)
      #expect(try names(host) == ["a"])
      let last = try await server.log().last { $0.path.hasPrefix("/a?size=3000000&hold") }
      #expect(last?.headers["Range"] == "bytes=1500000-")
    }
  }

  @Test("one that waits is paused and resumed; one that has ended is refused, and so is what is no transfer")
  func refused() async throws {
    try await withServer { host, server in
      let submitted = try await host.cli(
        "transfers", "submit", "\(server.address)/a?size=10", "--to", host.directory("files/a"), "--after", "1h")
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(try await host.cli("transfers", "pause", id).output == "\(id) paused\n")
      #expect(try await host.cli("transfers", "resume", id).output == "\(id) pending\n")
      #expect(try await host.cli("transfers", "cancel", id).output == "\(id) cancelled\n")
      for action in ["pause", "resume"] {
        let late = try await host.cli("transfers", action, id)
        #expect(late.status == 6 && late.errors.contains("cancelled"), "\(late)")
      }
      let unknown = try await host.cli("transfers", "pause", "01976c1e-0000-7000-8000-000000000000")
      #expect(unknown.status == 6 && unknown.errors.contains("there is no request"), "\(unknown)")
    }
  }
}
