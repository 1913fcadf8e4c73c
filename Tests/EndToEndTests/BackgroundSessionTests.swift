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

  private static let identifier = "test.apple.session"

  /// Runs `body` with a host that has `SessionApp`, which takes one of the steps in each run of its refresh.
  private func withSessionApp(_ steps: String, _ body: (HostProcess, RangeServer) async throws -> Void) async throws {
    let samples = try #require(builtSamples)
    let server = try await RangeServer.start()
    try await HostProcess.prepare(environment: ["SESSION_SERVER": server.address, "SESSION_STEPS": steps]) { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      try host.directory.file(
        "plugins/app.so", try Data(contentsOf: URL(filePath: "\(samples)/apple-code/release/libSessionApp6.so")))
      try host.configure(
        """
        [plugin."org.taskhost.transfers".entitlements]
        network = "connect"
        [plugin."\(Self.identifier)"]
        may_transfer = true
        environment = ["SESSION_SERVER", "SESSION_STEPS"]
        [plugin."\(Self.identifier)".entitlements]
        network = "connect"

        """)
      try await host.start()
      try await body(host, server)
    }
    await server.stop()
  }

  private func step(_ host: HostProcess) async throws {
    let taken = try await host.cli("submit", Self.identifier, "--wait", "--json")
    #expect(taken.status == 0, "\(taken)")
  }

  /// The id of the live or ended transfer of a file of the server.
  private func transfer(_ host: HostProcess, of file: String) async throws -> String {
    let requests = try await host.json("tasks", "list", "--identifier", "org.taskhost.transfers", "--limit", "100")["requests"]?.array
    for id in (requests ?? []).compactMap({ $0["id"]?.string }) {
      let items = try await host.json("tasks", "show", id)["payload"]?["items"]?.array
      if items?.contains(where: { URL(string: $0["url"]?.string ?? "")?.lastPathComponent == file }) == true { return id }
    }
    throw TestFailure("no transfer has \(file): \(String(describing: requests))")
  }

  /// Waits until the app was told of a transfer.
  private func told(_ host: HostProcess, of transfer: String) async throws {
    try await host.request(transfer, is: "succeeded")
    let requests = try await host.json("tasks", "list", "--identifier", Self.identifier, "--limit", "100")["requests"]?.array
    let wake = try #require(requests?.filter { $0["tags"]?.array.compactMap(\.string) == ["transfer:\(transfer)"] })
    #expect(wake.count == 1, "\(wake)")
    try await host.request(try #require(wake.first?["id"]?.string), is: "succeeded")
  }

  /// A file of the app's Documents folder.
  private func document(_ host: HostProcess, _ name: String) throws -> Data? {
    let homes = try FileManager.default.contentsOfDirectory(atPath: host.directory("state/data"))
    return homes.lazy.compactMap { FileManager.default.contents(atPath: host.directory("state/data/\($0)/Documents/\(name)")) }.first
  }

  /// What the app has noted, and the numbers of tasks in it by the tasks' descriptions.
  private func journal(_ host: HostProcess) throws -> (lines: [String], numbers: [String: Set<String>]) {
    let text = String(decoding: try document(host, "journal.txt") ?? Data(), as: UTF8.self)
    var numbers: [String: Set<String>] = [:]
    for match in text.matches(of: /(the \w+) #(\d+)/) { numbers[String(match.1), default: []].insert(String(match.2)) }
    return (text.replacing(/\ #\d+/, with: "").split(separator: "\n").map(String.init), numbers)
  }

  @Test("the scene of a session is told of its events once, before its delegate, and no other scene; also in a new process")
  func scenes() async throws {
    try await withSessionApp("films songs") { host, server in
      _ = try await server.get("/release/film")
      try await step(host)
      try await step(host)
      try await told(host, of: try await transfer(host, of: "film"))
      let films = ["the scene is told of films", "the film is there", "films, the film: status 200", "all of films"]
      let before = try journal(host).lines
      #expect(before.filter { !$0.hasPrefix("step ") } == films, "\(before)")
      #expect(try await document(host, "film") == server.get("/film?size=3000000"))

      // The process that created the session is gone: the scene's action creates it.
      let song = try await transfer(host, of: "song")
      try await host.progress(of: song, reaches: 1000)
      await host.kill()
      _ = try await server.get("/release/song")
      try await host.start()
      try await told(host, of: song)
      let songs = ["the scene is told of songs", "the song is there", "songs, the song: status 206", "all of songs"]
      let after = try journal(host).lines
      #expect(after == before + songs, "\(after)")
      #expect(try await document(host, "song") == server.get("/song?size=200000"))
    }
  }

  @Test("an upload arrives byte for byte with its method and headers, and the delegate is told")
  func upload() async throws {
    try await withSessionApp("upload") { host, server in
      try await step(host)
      try await told(host, of: try await transfer(host, of: "diary"))
      let sent = try #require(try document(host, "diary.bin"))
      #expect(sent.count == 300_001 && Set(sent).count == 256)
      #expect(try await Data(server.get("/kept/diary")) == sent)
      let requests = try await server.requests("diary")
      #expect(requests.count == 1 && requests.first?.method == "POST" && requests.first?.headers["X-Author"] == "Anna", "\(requests)")
      let journal = try journal(host).lines
      #expect(journal == ["step upload", "the scene is told of films", "films, the diary: status 201", "all of films"], "\(journal)")
      let staged = try FileManager.default.contentsOfDirectory(atPath: host.directory("state/transfers/\(Self.identifier)"))
      #expect(staged.isEmpty, "\(staged)")
    }
  }

  @Test("a suspended task gets no bytes, is listed after kill -9 of the host, and gets the rest once it is resumed")
  func suspension() async throws {
    try await withSessionApp("films songs hesitate list suspend list another callback resume list") { host, server in
      try await step(host)
      try await step(host)
      let film = try await transfer(host, of: "film")
      try await host.progress(of: film, reaches: 1_500_000)
      for _ in ["hesitate", "list", "suspend"] { try await step(host) }
      try await host.request(film, is: "pending")
      await host.kill()
      _ = try await server.get("/release/film")
      try await host.start()
      for _ in ["list", "another", "callback"] { try await step(host) }
      #expect(try await host.json("transfers", "show", film)["bytes"]?.integer == 1_500_000)
      #expect(try await server.requests("film").filter { $0.path.contains("hold") }.count == 1)
      for _ in ["resume", "list"] { try await step(host) }
      try await told(host, of: film)
      #expect(try await document(host, "film") == server.get("/film?size=3000000"))
      let requests = try await server.requests("film").filter { $0.path.contains("hold") }
      #expect(requests.map { $0.headers["Range"] } == [nil, "bytes=1500000-"], "\(requests)")
      #expect(try await server.requests("never").isEmpty, "it was suspended before the run ended")

      let (journal, numbers) = try journal(host)
      let films = journal.filter { $0.hasPrefix("films has") }
      #expect(films.first == "films has 2: the film, download, running; the sequel, download, running", "\(journal)")
      let suspended = ["the film, download, suspended", "the sequel, download, suspended"].joined(separator: "; ")
      #expect(films.dropFirst().first == "films has 2: " + suspended, "\(journal)")
      let three = "films has 3: the epilogue, download, running; " + suspended
      #expect(films.dropFirst(2).first == three, "\(journal)")
      #expect(films.last?.hasSuffix("the sequel, download, suspended") == true, "only the film was resumed: \(journal)")
      #expect(journal.first { $0.hasPrefix("songs has") } == "songs has 1: the song, download, running", "\(journal)")
      #expect(journal.filter { $0 == "films, the film: status 206" }.count == 1, "\(journal)")
      let ofFilms = ["the film", "the sequel", "the epilogue"].map { numbers[$0] ?? [] }
      #expect(ofFilms.allSatisfy { $0.count == 1 }, "a task keeps its number: \(numbers)")
      #expect(Set(ofFilms).count == 3, "a task of a later launch has a number of its own: \(numbers)")
    }
  }
}
