import ControlTestSupport
import HTTPTransfer
import TaskFilters
import TaskModel
import Testing

@Suite("Pages over HTTP") struct PageServerTests {
  private func with(_ body: @escaping @Sendable (MemoryHost, PageClient) async throws -> Void) async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { try await body(host, PageClient(socket: $0.socket)) }
  }

  private static let gone = "/ui/requests/01976c1e-0000-7000-8000-000000000000"

  @Test(
    "every page has one heading, its own files alone, and forbids everything else",
    arguments: [
      "/", "/ui/requests", "/ui/tasks", "/ui/runs", "/ui/plugins", "/ui/conditions", "/ui/forecast", "/ui/transfers", "/ui/assertions",
      "/ui/pauses", "/ui/submit",
    ])
  func pages(_ path: String) async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      let answer = try await client.get(path)
      #expect(answer.status == 200)
      #expect(answer.head.values("content-type") == ["text/html; charset=utf-8"])
      #expect(answer.head.values("content-security-policy").first?.hasPrefix("default-src 'none'; script-src 'self';") == true)
      #expect(answer.head.values("x-content-type-options") == ["nosniff"] && answer.head.values("cache-control") == ["no-store"])
      #expect(answer.text.components(of: "<h1>") == 1 && answer.text.components(of: "<main ") == 1)
      #expect(answer.text.components(of: "<script") == 1 && answer.text.components(of: "src=\"/ui/files/dashboard.js\"") == 1)
      #expect(answer.text.components(of: " style=") == 0 && answer.text.components(of: "http:") == 0)
      #expect(!answer.text.contains("Absence") && !answer.text.contains("{{") && !answer.text.contains("Optional("))
    }
  }

  @Test("what clients and plugins say is text, never markup")
  func escaping() async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      let hostile = "<script>alert(1)</script>\"'&{{title}}\u{202E}\u{1B}["
      var request = TaskRequest(identifier: try TaskIdentifier("a"), payload: Array("\"\(hostile)\"".utf8), uniqueKey: hostile)
      request.tags = [hostile]
      let id = try await host.submit([request])[0].id
      let run = host.begin(id)
      host.log(run, hostile)
      host.report(run, RunProgress(completed: 1, total: 2, unit: hostile, message: hostile))
      var record = try await host.run(run)
      record.report.message = hostile
      record.report.output = Array(hostile.utf8)
      record.report.trouble = hostile
      host.put(record)
      host.change(id) { $0.lastMessage = hostile }
      host.setGates([Gate(kind: "time", sentence: hostile, remedy: hostile)], wouldRunIf: [hostile])
      host.setProblems([Problem(.failing, of: hostile, hostile, remedy: hostile)])
      host.setPlugins([PluginStatus(file: hostile, health: .refused, reasonCode: "not_elf", reasonMessage: hostile)])
      _ = try await host.beginAssertion(AssertionRequest(name: hostile, reason: hostile))
      _ = try await host.pause(PauseOrder(filter: "tag:\(RequestFilter.quoted(hostile))", by: hostile, reason: hostile), isDry: false)
      for path in [
        "/", "/ui/requests", "/ui/requests/\(id)", "/ui/runs", "/ui/runs/\(run)", "/ui/plugins", "/ui/assertions", "/ui/pauses",
      ] {
        let text = try await client.get(path).text
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "\(path)")
        #expect(!text.contains("<script>alert") && text.components(of: "<script") == 1, "\(path)")
        #expect(!text.contains("\u{202E}") && !text.contains("\u{1B}"), "\(path)")
        #expect(text.contains("{{title}}"), "\(path)")
      }
      let filter = try await client.get("/ui/requests?filter=%22%3E%3Cscript%3Ealert(1)")
      #expect(filter.status == 400 && !filter.text.contains("<script>alert"))
      let lost = try await client.get("/ui/%3Cscript%3Ealert(1)")
      #expect(lost.status == 404 && !lost.text.contains("<script>alert"))
    }
  }

  @Test("a filter that is wrong is shown with what is wrong, and where")
  func flaw() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      let answer = try await client.get("/ui/requests?filter=state%3Afailed+stat%3Ax")
      #expect(answer.status == 400)
      #expect(answer.text.contains("at character 14") && answer.text.contains("did you mean"))
      #expect(answer.text.contains("state:failed stat:x\n             ^"))
      #expect(answer.text.contains("value=\"state:failed stat:x\""))
    }
  }

  @Test("a list goes on where its page ends, with the filter")
  func cursor() async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      let one = TaskRequest(identifier: try TaskIdentifier("a"), tags: ["many"])
      _ = try await host.submit(Array(repeating: one, count: 60))
      let first = try await client.get("/ui/requests?filter=tag%3Amany")
      #expect(first.text.components(of: "<tr>") == 51)
      let link = String(try #require(first.text.firstMatch(of: /rel="next" href="([^"]+)"/)).1).replacing("&amp;", with: "&")
      #expect(link.contains("filter=tag%3Amany&after="))
      let second = try await client.get(link)
      #expect(second.text.components(of: "<tr>") == 11 && second.text.contains("First page") && !second.text.contains("rel=\"next\""))
    }
  }

  @Test("the page of a request that is gone says what became of it")
  func gone() async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      let nothing = try await client.get(Self.gone)
      #expect(nothing.status == 404 && nothing.text.contains("The history has no run of it either"))
      let id = try #require(RequestID("01976c1e-0000-7000-8000-000000000000"))
      var run = RunRecord(
        id: RunID(sequence: 9, origin: 1), request: id, identifier: try TaskIdentifier("a"), attempt: 1,
        started: WallTime(unixMilliseconds: 0), ended: WallTime(unixMilliseconds: 1000), outcome: .succeeded)
      run.report.message = "42 files saved"
      host.put(run)
      let known = try await client.get(Self.gone)
      #expect(known.status == 404 && known.text.contains("Its last run ended as succeeded") && known.text.contains("42 files saved"))
    }
  }

  @Test("a page asks for its live parts alone, without the frame")
  func part() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      let part = try await client.get("/?part=live")
      #expect(part.text.contains("id=\"problems\" data-live") && !part.text.contains("<html"))
    }
  }

  @Test("files have a tag, and come again only if they have changed")
  func files() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      for (name, type) in [("dashboard.css", "text/css"), ("dashboard.js", "text/javascript"), ("icon.svg", "image/svg+xml")] {
        let answer = try await client.get("/ui/files/\(name)")
        #expect(answer.status == 200 && answer.head.values("content-type").first?.hasPrefix(type) == true && !answer.text.isEmpty)
        let tag = try #require(answer.head.values("etag").first)
        let again = try await client.get("/ui/files/\(name)", [("if-none-match", "\"other\", W/\(tag)")])
        #expect(again.status == 304 && again.text.isEmpty && again.head.values("etag") == [tag])
      }
      #expect(try await client.get("/ui/files/layout.mustache").status == 404)
      #expect(try await client.get("/ui/files/..%2Fdashboard.css").status == 404)
    }
  }

  @Test("pages are served under no name but localhost and numbers, so that no site's name leads to them")
  func names() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      for name in ["localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080", "host.localhost"] {
        #expect(try await client.get("/ui/requests", [("host", name)]).status == 200, "\(name)")
      }
      for name in ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example"] {
        #expect(try await client.get("/ui/requests", [("host", name)]).status == 421, "\(name)")
      }
    }
  }

  @Test("an address with a parameter that is unknown, or an id of nothing, is refused")
  func addresses() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      #expect(try await client.get("/ui/requests?filtre=x").status == 400)
      #expect(try await client.get("/ui/requests?after=x").status == 400)
      #expect(try await client.get("/ui/requests/x").status == 404)
      #expect(try await client.get("/ui/tasks/unknown.task").status == 404)
      #expect(try await client.get("/ui/tasks/%3C").status == 404)
      #expect(try await client.get("/ui/?done=%3Cscript%3E").status == 303)
      #expect(try await client.get("/?done=nonsense").text.contains("class=\"notice") == false)
      let other = try await client.send("DELETE", "/ui/requests", [])
      #expect(other.status == 405 && other.head.values("allow") == ["GET, HEAD, POST"])
    }
  }
}

extension String {
  /// How often a part occurs.
  func components(of part: String) -> Int { ranges(of: part).count }
}
