import Foundation
import TestSupport
import Testing

/// Where `make samples` puts the plugins.
private let builtSamples = ProcessInfo.processInfo.environment["TASKHOST_SAMPLES"]

/// An app as it is written for iOS (`Tests/Fixtures/AppleCode/Sources/GalleryApp`), with a background session.
@Suite(
  "Background sessions of an app", .timeLimit(.minutes(10)),
  .enabled(if: builtSamples != nil, "make test builds the plugins and sets TASKHOST_SAMPLES"))
struct BackgroundSessionTests {
  @Test("fifty photos go on over kill -9 of the host in mid-download: all are whole, and the app is told once")
  func gallery() async throws {
    let samples = try #require(builtSamples)
    let server = try await RangeServer.start()
    try await HostProcess.prepare(environment: ["GALLERY_SERVER": server.address]) { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      try host.directory.file(
        "plugins/app.so", try Data(contentsOf: URL(filePath: "\(samples)/apple-code/release/libGalleryApp6.so")))
      var configuration = "[plugin.\"org.taskhost.transfers\".entitlements]\nnetwork = \"connect\"\n"
      for identifier in ["refresh", "cleanup"].map({ "test.apple.gallery.\($0)" }) {
        configuration += """
          [plugin."\(identifier)"]
          may_transfer = true
          environment = ["GALLERY_SERVER"]
          [plugin."\(identifier)".entitlements]
          network = "connect"

          """
      }
      try host.configure(configuration)
      try await host.start()
      let refreshed = try await host.cli("submit", "test.apple.gallery.refresh", "--wait", "--json")
      #expect(refreshed.status == 0, "\(refreshed)")
      let transfers = try await host.json("transfers", "list", "--json")["transfers"]?.array ?? []
      let id = try #require(transfers.first?["id"]?.string)
      #expect(transfers.count == 1 && transfers.first?["transfers"]?.integer == 50, "\(transfers)")
      try await host.progress(of: id, reaches: 49)
      await host.kill()
      _ = try await server.get("/release/photo7")
      try await host.start()
      try await host.request(id, is: "succeeded")
      let wakes = try await host.json("tasks", "list", "--identifier", "test.apple.gallery.refresh", "--limit", "100")["requests"]?.array
      let wake = try #require(wakes?.filter { $0["tags"]?.array.compactMap(\.string) == ["transfer:\(id)"] })
      #expect(wake.count == 1)
      try await host.request(try #require(wake.first?["id"]?.string), is: "succeeded")
      let cleaned = try await host.cli("submit", "test.apple.gallery.cleanup", "--wait", "--json")
      #expect(cleaned.status == 0, "\(cleaned)")

      let homes = try FileManager.default.contentsOfDirectory(atPath: host.directory("state/data")).map {
        host.directory("state/data/\($0)")
      }
      let documents = try #require(
        homes.first { FileManager.default.fileExists(atPath: $0 + "/Documents/journal.txt") }.map { $0 + "/Documents" })
      for number in 0..<50 {
        let found = FileManager.default.contents(atPath: "\(documents)/photos/photo\(number)")
        #expect(try await found == server.get("/photo\(number)?size=\(20_000 + number)"), "photo \(number): \(found?.count ?? -1) bytes")
      }
      let journal = try String(contentsOfFile: documents + "/journal.txt", encoding: .utf8)
      #expect(journal == "the feed is refreshed\nthe photos are there\n50 photos were looked at\n")
      let staged = try FileManager.default.contentsOfDirectory(atPath: host.directory("state/transfers/test.apple.gallery.refresh"))
      #expect(staged.isEmpty, "\(staged)")
    }
    await server.stop()
  }
}
