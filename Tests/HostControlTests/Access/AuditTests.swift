import ControlTestSupport
import Foundation
import Glibc
import NIOHTTP1
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("The audit") struct AuditTests {
  private static func entries(_ client: HTTPTestClient, _ query: String = "") async throws -> [JSONNode] {
    try await client.send("GET", "/v1/audit\(query)").node["entries"]?.array ?? []
  }

  @Test("a change says who made it, what it was, from where, and how it ended; reading and refused requests are not recorded")
  func changes() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      let id = try #require(try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#).node["id"]?.string)
      _ = try await local.send("GET", "/v1/requests")
      #expect(try await local.send("DELETE", "/v1/requests/\(RequestID(sequence: 1, origin: 7))").status == 404)
      let remote = try fixture.client(.operate)
      _ = try await remote.send("DELETE", "/v1/requests/\(id)")
      #expect(try await fixture.client(.read).send("DELETE", "/v1/requests/\(id)").status == 403)
      _ = try await remote.send("PUT", "/v1/conditions", #"{"power": false}"#)
      _ = try await remote.send("POST", "/v1/requests/bulk", #"{"filter": "tag:x", "action": "cancel", "dry_run": true}"#)
      let entries = try await Self.entries(local)
      #expect(entries.compactMap { $0["operation"]?.string } == ["submit", "cancelRequest", "overrideConditions"])
      #expect(entries.compactMap { $0["number"]?.integer } == [1, 2, 3])
      let (submission, cancellation) = (entries[0], entries[1])
      #expect(submission["user_id"]?.integer == Int64(getuid()) && submission["process_id"]?.integer == Int64(getpid()))
      #expect(submission["from"]?.string == "socket" && submission["by"]?.string?.contains("user \(getuid())") == true)
      #expect(submission["ids"]?.array?.compactMap(\.string) == [id] && submission["target"]?.string == "com.example.a")
      #expect(submission["status"]?.integer == 201)
      #expect(cancellation["token"]?.string == remote.id && cancellation["by"]?.string == "token \(remote.id)")
      #expect(cancellation["from"]?.string?.hasPrefix("127.0.0.1:") == true && cancellation["target"]?.string == id)
      #expect(entries[2]["target"]?.string == "power=false")
      let mode = try FileManager.default.attributesOfItem(atPath: fixture.directory + "/audit.jsonl")[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("a form of the dashboard is recorded as the change that it makes")
  func forms() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      let id = try #require(try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#).node["id"]?.string)
      let pages = RawClient.Page(socket: fixture.socket)
      #expect(try await pages.post("/ui/requests/\(id)/cancel").hasPrefix("HTTP/1.1 303"))
      let last = try await Self.entries(local).last
      #expect(last?["operation"]?.string == "dashboard" && last?["target"]?.string == "/ui/requests/\(id)/cancel")
      #expect(last?["ids"]?.array?.compactMap(\.string) == [id])
    }
  }

  @Test("pages of the audit follow one another; since begins where it says; only a token for the whole host reads it")
  func pages() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      for _ in 0..<5 { _ = try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#) }
      let first = try await local.send("GET", "/v1/audit?limit=3")
      #expect(first.node["entries"]?.array?.count == 3 && first.node["next"]?.string == "3")
      let second = try await local.send("GET", "/v1/audit?limit=3&after=3")
      #expect(second.node["entries"]?.array?.compactMap { $0["number"]?.integer } == [4, 5] && second.node["next"] == nil)
      #expect(try await Self.entries(local, "?since=2000-01-01T00:00:00Z").count == 5)
      #expect(try await Self.entries(local, "?since=2900-01-01T00:00:00Z").isEmpty)
      #expect(try await local.send("GET", "/v1/audit?after=x").status == 400)
      let beyond = try await local.send("GET", "/v1/audit?after=\(Int64.max)")
      #expect(beyond.status == 200 && beyond.node["entries"]?.array?.isEmpty == true)
      #expect(try await fixture.client(.submit).send("GET", "/v1/audit").status == 403)
      #expect(try await fixture.client(.operate, "com.*").send("GET", "/v1/audit").status == 403)
      #expect(try await fixture.client(.operate).send("GET", "/v1/audit").status == 200)
    }
  }

  @Test("the page of the audit has the newest first, goes on with older ones, and begins where it is asked to")
  func page() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let (local, pages) = (HTTPTestClient(socket: fixture.socket), PageClient(socket: fixture.socket))
      #expect(try await pages.get("/ui/audit").text.contains("Nobody has changed anything yet."))
      for index in 0..<60 { _ = try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a\#(index)"}"#) }
      let first = try await pages.get("/ui/audit").text
      let newest = try #require(first.firstRange(of: "com.example.a59<"))
      let older = try #require(first.firstRange(of: "com.example.a10<"))
      #expect(newest.lowerBound < older.lowerBound && !first.contains("com.example.a9<"))
      #expect(first.contains("process \(getpid())") && first.contains(">submit</code>") && first.contains("user \(getuid())"))
      #expect(first.contains("href=\"/ui/audit?before=11\""))
      let second = try await pages.get("/ui/audit?since=1h&before=11").text
      #expect(second.contains("com.example.a9<") && second.contains("com.example.a0<") && !second.contains("com.example.a10<"))
      #expect(second.contains("href=\"/ui/audit?since=1h\"") && !second.contains("rel=\"next\""))
      #expect(try await pages.get("/ui/audit?since=2900-01-01T00:00:00Z").text.contains("Nobody has changed anything since then."))
      let wrong = try await pages.get("/ui/audit?since=soon")
      #expect(wrong.status == 400 && wrong.text.contains("is not a moment") && wrong.text.contains("value=\"soon\""))
      #expect(try await pages.get("/ui/audit?before=x").status == 400)
      #expect(try await fixture.client(.operate).send("GET", "/ui/audit").status == 403)
    }
  }

  @Test("a file that was moved or removed has a successor, whose numbers go on", arguments: [true, false])
  func moved(_ isMoved: Bool) async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      let file = fixture.directory + "/audit.jsonl"
      for _ in 0..<3 { _ = try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#) }
      #expect(isMoved ? rename(file, file + ".moved") == 0 : unlink(file) == 0)
      _ = try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.b"}"#)
      let entries = try await Self.entries(local, "")
      #expect(entries.compactMap { $0["number"]?.integer } == [4], "\(entries)")
    }
  }

  @Test("a host without an audit says so") func none() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let answer = try await PageClient(socket: fixture.socket).get("/ui/audit")
      #expect(answer.status >= 400 && answer.text.contains("records no audit"))
    }
  }

  // MARK: Files

  private static func append(_ files: AuditFiles, _ numbers: ClosedRange<Int64>) throws {
    let (descriptor, _, _) = try files.open()
    defer { close(descriptor) }
    for number in numbers {
      let text = "{\"number\":\(number),\"time_unix_ms\":\(number * 1000)}\n"
      _ = text.withCString { write(descriptor, $0, strlen($0)) }
    }
  }

  @Test("numbers go on over restarts and rotations; only the newest files are kept")
  func rotation() async throws {
    try await ControlFixture.withDirectory { directory in
      let files = AuditFiles(in: directory)
      for round in 0..<12 as Range<Int64> {
        try Self.append(files, round * 10 + 1...round * 10 + 10)
        try files.rotate()
        let opened = try files.open()
        close(opened.descriptor)
        #expect(opened.last == round * 10 + 10)
      }
      try Self.append(files, 121...125)
      let found = try files.read(after: 0, since: nil, limit: 1000)
      #expect(found.map(\.number) == Array(51...125))
      #expect(try files.read(after: 73, since: nil, limit: 4).map(\.number) == [74, 75, 76, 77])
      #expect(try files.read(after: 0, since: WallTime(unixMilliseconds: 119_000), limit: 1000).map(\.number) == Array(119...125))
      #expect(try files.read(before: .max, since: nil, limit: 1000).map(\.number) == Array((51...125).reversed()))
      #expect(try files.read(before: 73, since: nil, limit: 4).map(\.number) == [72, 71, 70, 69])
      #expect(
        try files.read(before: 124, since: WallTime(unixMilliseconds: 119_000), limit: 1000).map(\.number) == Array((119...123).reversed()))
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 8)
    }
  }

  @Test("a line that a crash left unfinished is ended and left out, and its number is not used again")
  func torn() async throws {
    try await ControlFixture.withDirectory { directory in
      let files = AuditFiles(in: directory)
      try Self.append(files, 1...3)
      let handle = try #require(FileHandle(forWritingAtPath: directory + "/audit.jsonl"))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("{\"number\":4,\"time_uni".utf8))
      let opened = try files.open()
      close(opened.descriptor)
      try Self.append(files, 5...6)
      #expect(try files.read(after: 0, since: nil, limit: 10).map(\.number) == [1, 2, 3, 5, 6])
      #expect(try files.read(before: .max, since: nil, limit: 10).map(\.number) == [6, 5, 3, 2, 1])
    }
  }

  @Test("lines from the end are those from the beginning, across blocks")
  func backwards() async throws {
    try await ControlFixture.withDirectory { directory in
      let files = AuditFiles(in: directory)
      try Self.append(files, 1...6000)
      #expect(try files.read(before: .max, since: nil, limit: 10_000).map(\.number) == Array((1...6000).reversed()))
      let last = try files.read(after: 5998, since: nil, limit: 2).map(\.line)
      #expect(try files.read(before: .max, since: nil, limit: 2).map(\.line) == last.reversed())
    }
  }

  @Test("many changes at once are all recorded, each with a number of its own")
  func concurrent() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let local = HTTPTestClient(socket: fixture.socket)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<40 {
          group.addTask { _ = try await local.send("POST", "/v1/requests", #"{"identifier": "com.example.a"}"#) }
        }
        try await group.waitForAll()
      }
      #expect(try await Self.entries(local).compactMap { $0["number"]?.integer } == Array(1...40))
    }
  }

  @Test("every route that changes something declares a role above reading") func roles() {
    for route in RouteTable.control.routes where route.isChange { #expect(route.role.map { $0 > .read } == true, "\(route.name)") }
  }
}
